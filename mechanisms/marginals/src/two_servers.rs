//! Records from noisy tables that two servers count from shares of people's records.

use crate::answers::Asked;
use crate::counts::{Clique, cells};
use crate::curator::{Curator, example};
use crate::noisy_marginals::{Parameters, TWO_SERVERS, learn, share};
use crate::program::{Answered, Program};
use scumble_core::{
    CuratorMechanism, Descriptor, Outcome, Output, Randomness, Result, SharedCounts, SharedTable, Stream,
    check_width, register,
};

/// Number of servers.
const SERVERS: u16 = 2;

/// Tables that the program asks for.
fn cliques<P: Program>(curator: &Curator<P>) -> Vec<Clique> {
    curator.state.program.tables(&curator.columns).cliques
}

impl<P: Program> SharedCounts for Curator<P> {
    fn tables(&self) -> Vec<SharedTable> {
        let levels = self.columns.levels();
        let table =
            |columns: Clique| SharedTable { levels: columns.iter().map(|&at| levels[at]).collect(), columns };
        cliques(self).into_iter().map(table).collect()
    }

    fn cells(&self, record: &[f64]) -> Result<Vec<usize>> {
        check_width(self.state.domain.flat().dim(), record.len())?;
        let (levels, coded) = (self.columns.levels(), self.columns.coded(&self.state.domain, record)?);
        let cell =
            |clique: &Clique| clique.iter().fold(0, |cell, &at| cell * levels[at] + coded[at][0] as usize);
        Ok(cliques(self).iter().map(cell).collect())
    }

    fn steps(&self) -> u128 {
        let noise = self.purse.noise(share(&cliques(self))).ok().flatten();
        noise.map_or(1, |noise| noise.steps())
    }

    fn noise(&self, stream: &mut Stream) -> Result<Vec<i128>> {
        let (levels, cliques) = (self.columns.levels(), cliques(self));
        let count: usize = cliques.iter().map(|clique| cells(&levels, clique)).sum();
        let noise = self.purse.noise(share(&cliques))?;
        Ok((0..count).map(|_| noise.as_ref().map_or(0, |noise| noise.draw(stream))).collect())
    }

    fn release(&self, counts: &[i128], people: u64, randomness: &mut Randomness) -> Result<Outcome> {
        let (levels, cliques, steps) = (self.columns.levels(), cliques(self), self.steps() as f64);
        check_width(cliques.iter().map(|clique| cells(&levels, clique)).sum(), counts.len())?;
        let share = share(&cliques);
        let deviation = self.purse.deviation_of(self.purse.noise(share)?.as_ref());
        let mut left = counts;
        let asked: Vec<Asked> = cliques
            .iter()
            .map(|clique| {
                let (table, behind) = left.split_at(cells(&levels, clique));
                left = behind;
                let counts = table.iter().map(|count| *count as f64 / steps).collect();
                Asked::new(clique, counts, deviation, share)
            })
            .collect();
        let measured = asked.iter().map(Asked::measured).collect();
        let answered = Answered { levels, measured, cliques, merged: vec![] };
        let guarantee = self.guarantee(); // drawing the records is post-processing, with any randomness
        let streams = randomness.streams();
        let stream = streams.stream(0);
        self.outcome(guarantee, (answered, asked), Some(people as f64), (streams, stream))
    }
}

register! {
    /// Records drawn from noisy tables that two servers count without seeing a record.
    ///
    /// Each person sends one share of their record to each server: vectors with a one in a cell of each
    /// table, as random field elements whose sum is the vector (Prio). A proof shows the servers that the
    /// vectors belong to one record, and nothing else. Each server adds up its shares, and adds exact
    /// discrete Gaussian noise that alone suffices for the guarantee. The sum of the two noisy shares is the
    /// tables with the noise of both. Records are drawn from them as by
    /// [`NOISY_MARGINALS`](crate::NOISY_MARGINALS), whose noise has half the variance.
    ///
    /// One party that holds all records may run the mechanism too, with the noise of both servers.
    ///
    /// ```
    /// use scumble_core::{Designed, Randomness};
    /// use scumble_marginals::TWO_SERVER_MARGINALS;
    /// use serde_json::json;
    ///
    /// let example = (TWO_SERVER_MARGINALS.example)()?;
    /// let design = TWO_SERVER_MARGINALS.design(&json!({ "bins": 4 }), &example.brief)?;
    /// let shared = design.mechanism().shared_counts().expect("tables that two servers count");
    /// // Each person is in one cell of each table: of three features, each with the target of two levels.
    /// let cells: Vec<usize> = shared.tables().iter().map(|table| table.len()).collect();
    /// assert_eq!(cells, [8, 8, 6]);
    /// let mut stream = Randomness::from_os()?.streams().stream(0);
    /// assert_eq!(shared.noise(&mut stream)?.len(), 22);
    /// # Ok::<(), scumble_core::Error>(())
    /// ```
    pub const TWO_SERVER_MARGINALS = {
        name: TWO_SERVERS,
        summary: "records drawn from noisy tables that two servers count, without seeing a record",
        paper: "Corrigan-Gibbs and Boneh, Prio (2017), with the proofs of Prio3 (draft-irtf-cfrg-vdaf); \
                McKenna, Miklau and Sheldon, Winning the NIST contest (2021), of tables that are chosen in \
                public",
        descriptor: Descriptor::new(Output::Synthetic).reading_people(),
        parameters: Parameters,
        learn: learn::<SERVERS>,
        two_servers: Curator::try_from,
        example: example,
    };
}
