"""Mechanisms that are defined in Python, beside the built-in ones.

A subclass of :class:`LocalMechanism` or :class:`CuratorMechanism` can be designed, released, compared and audited like
a built-in mechanism. Records are NumPy arrays of numbers: an interval is one column, a category is one column of 0 or 1
for each level, and the target comes last.

>>> from steps import StepNoise                                 # doctest: +SKIP
>>> scumble.plugins.check(StepNoise)                            # doctest: +SKIP
>>> print(scumble.audit(StepNoise))                             # doctest: +SKIP
>>> design = scumble.design(StepNoise, schema={"age": (0, 120), "size": (0.4, 2.2)}, epsilon=2.0)  # doctest: +SKIP

The file ``examples/steps.py`` has this mechanism and a faulty variant, which an audit refutes.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import traceback
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Callable, Sequence, TypeVar

from . import _native
from ._errors import InvalidInput, NotApplicable

__all__ = [
    "Claim",
    "CuratorMechanism",
    "DescribedNoise",
    "Domain",
    "LocalMechanism",
    "NotApplicable",
    "Random",
    "additive",
    "check",
    "discrete_laplace_variance",
    "exact",
    "flip",
    "local_mechanism",
    "register",
    "unknown",
]

_Mechanism = TypeVar("_Mechanism", bound="type[Mechanism]")


@dataclass(frozen=True)
class Claim:
    """Claim of differential privacy.

    Attributes
    ----------
    epsilon, delta : float
        ε in nats, and δ.
    protects : str
        ``"record"``, ``"features"`` or ``"label"``.
    theorem : str
        Theorem that implies the claim, with its source.
    """

    epsilon: float
    delta: float = 0.0
    protects: str = "record"
    theorem: str = ""


@dataclass(frozen=True)
class DescribedNoise:
    """Additive noise on the coordinates `start` to `stop` of a point, which an audit compares with `perturb`.

    Attributes
    ----------
    start, stop : int
        First coordinate, and the one after the last.
    distance : str
        ``"l1"`` for noise whose ε follows from Σ|xⱼ − yⱼ|/scaleⱼ, as for Laplace noise. ``"l2"`` for noise whose μ
        follows from √Σ(xⱼ − yⱼ)²/scaleⱼ², as for Gaussian noise. ``"root"`` for other noise.
    scales, variances, steps : sequence of float
        Scale, variance and lattice step of the noise of each coordinate.
    sensitivity : float
        Largest distance of two points of the range.
    kurtosis : float
        Upper bound on E[z⁴]/E[z²]² of the noise z of each coordinate.
    """

    start: int
    stop: int
    distance: str
    scales: Sequence[float]
    sensitivity: float
    variances: Sequence[float]
    kurtosis: float
    steps: Sequence[float]


def additive(variances: Sequence[float]) -> dict[str, Any]:
    """Independent noise of mean zero with these variances, for :meth:`LocalMechanism.noise`."""
    return {"distribution": "additive", "variance": [float(variance) for variance in variances]}


def exact(width: int) -> dict[str, Any]:
    """Coordinates without noise, for :meth:`LocalMechanism.noise`."""
    return {"distribution": "exact", "width": width}


def flip(levels: int, keep: float) -> dict[str, Any]:
    """Category that keeps its level with the probability `keep`, for :meth:`LocalMechanism.noise`."""
    return {"distribution": "flip", "levels": levels, "keep": keep}


def unknown(width: int) -> dict[str, Any]:
    """Coordinates whose noise is not described, for :meth:`LocalMechanism.noise`."""
    return {"distribution": "unknown", "width": width}


def discrete_laplace_variance(scale: Any) -> float:
    """Variance of discrete Laplace noise of this scale."""
    ratio = math.exp(-1 / float(scale))
    return 2 * ratio / math.expm1(-1 / float(scale)) ** 2


class Domain:
    """Set of the records on which a guarantee holds.

    Attributes
    ----------
    columns : list of str
        Names of the encoded features (d of them).
    features, width : int
        Number of encoded features, d, and of all coordinates with those of the target.
    numbers : list of int
        Coordinates that are numbers between bounds.
    lower, upper : array
        Bounds of `numbers`.
    groups : list of slice
        Coordinates of each category: one is 1, and the others are 0.
    """

    def __init__(self, said: dict[str, Any]) -> None:
        import numpy

        factors = said["factors"]
        intervals = [factor for factor in factors if factor["kind"] == "interval"]
        self.columns: list[str] = said["columns"]
        self.features: int = said["features"]
        self.width: int = factors[-1]["stop"] if factors else 0
        self.numbers: list[int] = [factor["start"] for factor in intervals]
        self.lower = numpy.array([factor["bounds"][0] for factor in intervals])
        self.upper = numpy.array([factor["bounds"][1] for factor in intervals])
        self.groups = [slice(factor["start"], factor["stop"]) for factor in factors if factor["kind"] == "one-hot"]

    def __repr__(self) -> str:
        return f"<scumble.Domain of {self.width} coordinates: {len(self.numbers)} numbers, {len(self.groups)} categories>"


def _fractions(name: str, given: Any) -> list[tuple[int, int]]:
    """Exact fractions of 64-bit integers: one, or one for each column."""
    is_one = isinstance(given, (int, float, Fraction)) or not hasattr(given, "__len__")
    fractions = []
    for value in [given] if is_one else given:
        fraction = Fraction(value)
        if fraction < 0 or max(fraction.numerator, fraction.denominator) >= 2**64:
            raise InvalidInput(
                f"{name}: {value!r} is not a fraction of two integers from 0 to 2**64 - 1; "
                "Fraction.limit_denominator(2**32) rounds it"
            )
        fractions.append((fraction.numerator, fraction.denominator))
    return fractions


class Random:
    """Exact random numbers of a release.

    All methods return one row for each record: an array of `records` × `size`. The randomness is that of the release: the
    operating system's, that of a ticket, or that of a seed. Use no other generator. Scales, probabilities and exponents
    are exact: a :class:`fractions.Fraction`, an integer or a float, or one for each of the `size` columns.
    """

    def __init__(self, native: _native.Random) -> None:
        self._native = native

    @property
    def records(self) -> int:
        """Number of records; 1 for a curator."""
        return self._native.records

    def _array(self, drawn: bytes) -> Any:
        import numpy

        return numpy.frombuffer(drawn, dtype=numpy.int64).reshape(self.records, -1)

    def discrete_laplace(self, scale: Any, size: int = 1) -> Any:
        """Integers k with P(k) ∝ exp(−|k|/`scale`)."""
        return self._array(self._native.discrete_laplace(_fractions("scale", scale), size))

    def discrete_gaussian(self, scale: Any, size: int = 1) -> Any:
        """Integers k with P(k) ∝ exp(−k²/(2·`scale`²))."""
        return self._array(self._native.discrete_gaussian(_fractions("scale", scale), size))

    def bernoulli(self, p: Any, size: int = 1) -> Any:
        """Flags that are true with the probability `p`."""
        return self._array(self._native.bernoulli(_fractions("p", p), size)).astype(bool)

    def bernoulli_exp(self, gamma: Any, size: int = 1) -> Any:
        """Flags that are true with the probability exp(−`gamma`)."""
        return self._array(self._native.bernoulli_exp(_fractions("gamma", gamma), size)).astype(bool)

    def integers(self, bound: int, size: int = 1) -> Any:
        """Uniform integers from 0 to `bound` − 1."""
        return self._array(self._native.integers(bound, size))

    def bits(self, size: int = 1) -> Any:
        """Fair coins."""
        return self.integers(2, size).astype(bool)

    def permutation(self, size: int) -> Any:
        """Uniform permutation of 0, …, `size` − 1."""
        return self._array(self._native.permutation(size))

    def randomized_response(self, truth: Any, levels: int, epsilon: Any) -> Any:
        """Levels, where `truth` (one for each record) is exp(`epsilon`) times as likely as each other level.

        Returns
        -------
        array (records)
            Level of each record, from 0.
        """
        (fraction,) = _fractions("epsilon", epsilon)
        truth = [int(level) for level in truth]
        return self._array(self._native.randomized_response(truth, levels, fraction))[:, 0]


class Mechanism:
    """Base of :class:`LocalMechanism` and :class:`CuratorMechanism`; do not use it directly.

    Attributes
    ----------
    name : str
        Name of the mechanism, by default that of the class, such as ``"my-noise"`` for ``MyNoise``.
    source, version : str
        Source, such as a paper, and version. A saved design is read only by the same version.
    theorem, protects : str
        Theorem and protected part of the default :meth:`claims`.
    uses_delta : bool
        True if the default :meth:`claims` have the δ of the budget.
    example : {"mixed", "numbers", "numbers without target"}
        Records of an audit: three numbers with a label, or two numbers and a category with a label (``"mixed"``).
    epsilon, delta : float
        Budget of the design.
    domain : Domain
        Records of the design.
    """

    name: str
    source: str = "none"
    version: str = "0"
    theorem: str = ""
    protects: str = "record"
    uses_delta: bool = False
    example: str = "mixed"
    _is_local: bool
    _notion: dict[str, Any]

    domain: Domain
    epsilon: float
    delta: float

    def design(self) -> None:
        """Prepares a design, such as its scale of noise.

        Parameters of the mechanism are keyword arguments of an override, with annotations and defaults. Raise
        :class:`scumble.NotApplicable` for records that the mechanism does not take.
        """

    def claims(self) -> list[Claim]:
        """Claims of the mechanism. By default ε, also δ if `uses_delta`, with its `theorem`; none at ε = ∞."""
        if self.epsilon == float("inf"):
            return []
        return [Claim(self.epsilon, self.delta if self.uses_delta else 0.0, self.protects, self.theorem)]

    def assumes(self) -> list[str]:
        """Further assumptions, in words."""
        return []

    @classmethod
    def _parameters(cls) -> dict[str, Any]:
        """JSON schema of the parameters of :meth:`design`."""
        kinds: dict[Any, str] = {int: "integer", float: "number", str: "string", bool: "boolean"}
        kinds |= {kind.__name__: name for kind, name in kinds.items()}
        properties = {}
        for name, parameter in list(inspect.signature(cls.design).parameters.items())[1:]:
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            of_kind = kinds.get(parameter.annotation)
            schema: dict[str, Any] = {"type": of_kind} if of_kind else {}
            if parameter.default is not parameter.empty:
                schema["default"] = parameter.default
            properties[name] = schema
        return {"type": "object", "properties": properties}

    @classmethod
    def known_as(cls) -> str:
        """Name of the mechanism: its own ``name``, or that of the class in lower case with hyphens."""
        return cls.__dict__.get("name") or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower().replace("_", "-")

    @classmethod
    def _class_facts(cls) -> str:
        name = cls.known_as()
        facts = {
            "name": name,
            "summary": (inspect.getdoc(cls) or name).split("\n")[0].rstrip("."),
            "source": cls.source,
            "version": cls.version,
            "place": f"{cls.__module__}.{cls.__qualname__}",
            "is_local": cls._is_local,
            "alters": cls._overrides("encode") or cls._overrides("decode"),
            "example": cls.example,
            "parameters": cls._parameters(),
        }
        return json.dumps(facts)

    @classmethod
    def _overrides(cls, method: str) -> bool:
        own = getattr(cls, method, None)
        return own is not None and own is not getattr(LocalMechanism, method, None)

    @classmethod
    def _designed(cls, said: str) -> Mechanism:
        facts = json.loads(said)
        made = cls()
        made.domain = Domain(facts)
        made.epsilon, made.delta = float(facts["epsilon"]), facts["delta"]
        made._guarded("design", lambda: made.design(**(facts["parameters"] or {})))
        return made

    def _guarded(self, method: str, call: Callable[[], Any]) -> Any:
        """Result of `call`, with the place of an exception in its message."""
        try:
            return call()
        except (InvalidInput, NotApplicable):
            raise
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            raise InvalidInput(
                f"{type(self).__name__}.{method}: {type(error).__name__}: {error} ({at.filename}, line {at.lineno})"
            ) from error

    def _call(self, method: str, rows: int, values: bytes, random: _native.Random | None) -> bytes:
        import numpy

        def call() -> Any:
            array = numpy.frombuffer(values).reshape(rows, -1)
            arguments: tuple[Any, ...] = tuple(array) if method == "log_likelihood" else (array,)
            if random is not None:
                arguments += (Random(random),)
            made = getattr(self, method)(*arguments)
            return numpy.ascontiguousarray(made, dtype=float).tobytes()

        return self._guarded(method, call)

    def _design_facts(self) -> str:
        def infinite(number: float) -> Any:
            return number if abs(number) != float("inf") else "inf"

        claims = [
            {**self._notion, **asdict(claim), "epsilon": infinite(claim.epsilon)} for claim in self._guarded("claims", self.claims)
        ]
        facts = {"claims": claims, "assumes": self._guarded("assumes", self.assumes), **self._facts()}
        return json.dumps(facts, default=float)

    def _facts(self) -> dict[str, Any]:
        return {}


class LocalMechanism(Mechanism):
    """Mechanism that each person runs on their own record. A subclass overrides :meth:`perturb`.

    All privacy comes from :meth:`perturb`, whose points lie in the range: records are projected into their public domain
    before :meth:`encode`, and points into the range after it. A claim must hold for every point of the range, so a
    mechanism on a lattice rounds in :meth:`perturb` too. Blocks of records are randomised together.
    """

    _is_local = True
    _notion = {"notion": "local-dp"}

    def perturb(self, points: Any, random: Random) -> Any:
        """Randomises points (records × k). It is not called at ε = ∞."""
        raise NotImplementedError("a local mechanism overrides perturb")

    def encode(self, records: Any) -> Any:
        """Maps records (records × width) to points of the range (records × k); by default unchanged."""
        return records

    def decode(self, points: Any) -> Any:
        """Maps points to released records: :meth:`columns`, then the target's coordinates. By default unchanged."""
        return points

    def range(self) -> tuple[Any, Any] | None:
        """Lower and upper bounds of the k coordinates of a point; by default the domain itself."""
        return None

    def columns(self) -> list[str] | None:
        """Names of the released features; by default those of the records."""
        return None

    def noise(self) -> list[dict[str, Any]] | None:
        """Distribution of the released features in their order, from :func:`additive`, :func:`exact` and :func:`flip`.

        An entry for the target may follow; without one, the target is released in the clear. Models that know the
        distribution learn better. It is required unless :meth:`decode` changes points.
        """
        return None

    def described_noise(self) -> list[DescribedNoise]:
        """Noise of :meth:`perturb`, which an audit checks; with many columns it finds noise that is too small."""
        return []

    def log_likelihood(self, point: Any, released: Any) -> float:
        """Log-probability of the point `released`, up to a constant. An override makes an audit stronger."""
        raise NotImplementedError

    def _facts(self) -> dict[str, Any]:
        bounds = self._guarded("range", self.range)
        described = [
            {**asdict(noise), "coordinates": {"start": noise.start, "end": noise.stop}}
            for noise in self._guarded("described_noise", self.described_noise)
        ]
        is_noisy = self.epsilon != float("inf")
        columns = self._guarded("columns", self.columns)
        width = self.domain.features if columns is None else len(columns)
        noise = self._guarded("noise", self.noise) if is_noisy else [exact(width)]
        return {
            "range": None if bounds is None else [[float(lower), float(upper)] for lower, upper in zip(*bounds)],
            "columns": columns,
            "noise": noise,
            "described": described if is_noisy else [],
            "encodes": self._overrides("encode"),
            "perturbs": is_noisy,
            "decodes": self._overrides("decode"),
            "has_likelihood": is_noisy and self._overrides("log_likelihood"),
        }


class CuratorMechanism(Mechanism):
    """Mechanism that a trusted curator runs on all records. A subclass overrides :meth:`release`.

    Attributes
    ----------
    neighbours : {"replace-one", "add-or-remove-one"}
        Neighbouring relation of the claims.
    """

    neighbours: str = "replace-one"
    _is_local = False

    @property
    def _notion(self) -> dict[str, Any]:  # type: ignore[override]
        return {"notion": "central-dp", "neighbours": self.neighbours}

    def release(self, records: Any, random: Random) -> Any:
        """Rows (m × width) that are released for all records (n × width), such as a mean or synthetic records."""
        raise NotImplementedError("a curator's mechanism overrides release")


def local_mechanism(name: str, *, perturb: Callable[..., Any], **members: Any) -> type[LocalMechanism]:
    """Makes a local mechanism of functions.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    perturb : function
        Function of the mechanism, the points and the :class:`Random` numbers, as :meth:`LocalMechanism.perturb`.
    **members
        Other functions and attributes of a :class:`LocalMechanism`, such as ``encode``, ``decode``, ``claims`` and
        ``theorem``.

    Returns
    -------
    type
        Subclass of :class:`LocalMechanism`.
    """
    unknown_names = [member for member in members if not hasattr(LocalMechanism, member)]
    if unknown_names:
        raise InvalidInput(f"local_mechanism: a local mechanism has no {unknown_names[0]!r}")
    doc = members.pop("__doc__", None) or inspect.getdoc(perturb)
    module = getattr(perturb, "__module__", __name__)
    return type(name, (LocalMechanism,), {"name": name, "perturb": perturb, "__doc__": doc, "__module__": module, **members})


def register(mechanism: _Mechanism) -> _Mechanism:
    """Registers the mechanism of a class; also a decorator.

    Its name is then known, as reading a saved design needs, and comparisons of all quick mechanisms include it. A later
    class of the same name replaces it. A class that is passed to :func:`scumble.design` or :func:`scumble.compare` is
    known by its name, but not part of other comparisons.
    """
    _by_default.add(named(mechanism))
    return mechanism


#: Classes whose names are known, and the names that comparisons include by default.
_registered: dict[str, type[Mechanism]] = {}
_by_default: set[str] = set()


def not_by_default() -> list[str]:
    """Known names of classes that comparisons do not include by default."""
    return [name for name in _registered if name not in _by_default]


def classes_of(saved: dict[str, Any]) -> list[type[Mechanism]]:
    """Classes of the mechanisms of a saved design."""
    names = [saved.get("plugin"), *(part.get("plugin") for part in saved.get("parts", []))]
    return [mechanism for name, mechanism in _registered.items() if name in names]


def named(mechanism: Any) -> str:
    """Name of a mechanism, which is registered if it is a class."""
    if isinstance(mechanism, type) and issubclass(mechanism, Mechanism):
        _native.register(mechanism)
        _registered[mechanism.known_as()] = mechanism
        return mechanism.known_as()
    if isinstance(mechanism, str):
        return mechanism
    raise InvalidInput(f"mechanism: {mechanism!r} is neither a name nor a subclass of scumble.LocalMechanism")


def check(mechanism: type[Mechanism]) -> None:
    """Checks that a mechanism conforms to the rules of all mechanisms.

    The rules cover shapes, determinism, errors, and releases at infinite and large ε. They are not about privacy: an
    audit attacks the claims.

    Raises
    ------
    InvalidInput
        With a sentence for each broken rule.
    """
    broken = _native.conformance(mechanism)
    if broken:
        raise InvalidInput("the mechanism does not conform:\n- " + "\n- ".join(broken))
