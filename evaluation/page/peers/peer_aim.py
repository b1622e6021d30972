"""AIM of dpmm: synthetic rows from selected noisy marginals, and a logistic regression on these rows.

The claim is (ε, δ) for records that are added or removed. Numbers have equal bins between the schema's bounds
and levels are those of the schema, so binning costs no ε. The workload is the library's own: all pairs of
columns. Its noise is drawn by OpenDP and ignores seeds, so a repetition gives other numbers.
"""

import logging

from dpmm.pipelines.aim import AIMPipeline
from sklearn.linear_model import LogisticRegression

from common import serve


def rows(job, columns, train, test):
    settings = job["settings"]
    domain = {name: {"lower": lower, "upper": upper} for name, (lower, upper) in columns.numbers.items()}
    domain |= {name: {"categories": levels} for name, levels in columns.levels.items()}
    domain[columns.target] = {"categories": columns.classes}
    pipeline = AIMPipeline(
        epsilon=job["epsilon"],
        delta=job["delta"],
        max_model_size=settings["megabytes"],
        n_jobs=1,
        gen_kwargs={"n_iters": settings["iterations"]},
        binner_type="uniform",
        proc_epsilon=None,
        n_bins=settings["bins"],
    )
    pipeline.fit(train, domain=domain, random_state=job["seed"])
    synthetic = pipeline.generate(n_records=len(train), random_state=job["seed"])
    for name in columns.numbers:
        synthetic[name] = synthetic[name].astype(float)
    note = f"{len(pipeline.gen.generator.cliques)} marginals"
    labels = columns.classify(synthetic)
    if labels.min() == labels.max():
        return labels[0] * 0.98 + 0.01 + 0 * columns.encode(test)[:, 0], note
    model = LogisticRegression(max_iter=2000).fit(columns.encode(synthetic), labels)
    return model.predict_proba(columns.encode(test))[:, 1], note


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    serve({"rows": rows}, ["dpmm", "opendp", "scikit-learn", "numpy"])
