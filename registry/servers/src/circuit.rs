//! Validity circuit of Prio3 for the vectors of one record: a one in a cell of each table, and zeros
//! elsewhere, where tables that share a column agree on its level.
//!
//! The circuit is that of Prio3's `Histogram` (draft-irtf-cfrg-vdaf, section 7.4.4) for several histograms in
//! one proof, with one linear equation more for each repeated column. Its outputs are all zero if and only if
//! the vectors are those of a record, up to a probability of about (number of cells)/2¹²⁸.

use prio::field::{Field128, FieldElement};
use prio::flp::gadgets::{Mul, ParallelSum, ParallelSumGadget};
use prio::flp::{Flp, FlpError, Gadget, Type};
use scumble_core::SharedTable;
use std::collections::BTreeMap;
use std::ops::Range;

/// Vectors of one record, one after the other, for tables of counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OneRecord {
    /// Cells of each table in the vector.
    tables: Vec<Range<usize>>,
    /// Linear forms of the vector that are zero if two tables agree on a column's level: cells and weights.
    agreements: Vec<Vec<(usize, Field128)>>,
    /// Number of cells that one call of the gadget checks.
    chunk: usize,
}

impl OneRecord {
    pub(crate) fn new(tables: &[SharedTable]) -> Self {
        let mut ranges: Vec<Range<usize>> = vec![];
        let mut first: BTreeMap<usize, Vec<(usize, Field128)>> = BTreeMap::new();
        let mut agreements = vec![];
        for table in tables {
            let start = ranges.last().map_or(0, |before| before.end);
            ranges.push(start..start + table.len());
            for (place, column) in table.columns.iter().enumerate() {
                let weighted = |(cell, level)| (start + cell, Field128::from(level as u128));
                let form: Vec<_> = table.level_of_cells(place).enumerate().map(weighted).collect();
                match first.get(column) {
                    None => {
                        first.insert(*column, form);
                    }
                    Some(before) => {
                        let before = before.iter().map(|(cell, weight)| (*cell, -*weight));
                        agreements.push(before.chain(form).collect());
                    }
                }
            }
        }
        let cells = ranges.last().map_or(0, |last| last.end);
        let chunk = cells.isqrt().max(1);
        Self { tables: ranges, agreements, chunk }
    }

    fn calls(&self) -> usize {
        self.input_len().div_ceil(self.chunk)
    }
}

impl Flp for OneRecord {
    type Field = Field128;

    fn gadget(&self) -> Vec<Box<dyn Gadget<Field128>>> {
        vec![Box::new(ParallelSum::new(Mul::new(self.calls()), self.chunk))]
    }

    fn num_gadgets(&self) -> usize {
        1
    }

    /// Outputs: Σ rᵏ·xₖ·(xₖ − 1) over all cells, for random r; the sum of each table less 1; and
    /// the agreements of tables on their columns.
    fn valid(
        &self,
        gadgets: &mut Vec<Box<dyn Gadget<Field128>>>,
        input: &[Field128],
        joint_rand: &[Field128],
        num_shares: usize,
    ) -> Result<Vec<Field128>, FlpError> {
        self.valid_call_check(input, joint_rand)?;
        // A constant is shared in equal parts.
        let one = Field128::from(num_shares as u128).inv();
        let mut is_bit = Field128::zero();
        for (chunk, random) in input.chunks(self.chunk).zip(joint_rand) {
            // Products of the last call beyond the input have the factor zero.
            let mut factors = [Field128::zero(), -one].repeat(self.chunk);
            let mut power = *random;
            for (value, factors) in chunk.iter().zip(factors.chunks_exact_mut(2)) {
                factors.copy_from_slice(&[power * *value, *value - one]);
                power *= *random;
            }
            is_bit += gadgets[0].eval(&factors)?;
        }
        let sum = |cells: &Range<usize>| input[cells.clone()].iter().fold(-one, |sum, value| sum + *value);
        let agreement = |form: &Vec<(usize, Field128)>| {
            form.iter().fold(Field128::zero(), |sum, (cell, weight)| sum + input[*cell] * *weight)
        };
        let sums = self.tables.iter().map(sum).chain(self.agreements.iter().map(agreement));
        Ok(std::iter::once(is_bit).chain(sums).collect())
    }

    fn input_len(&self) -> usize {
        self.tables.last().map_or(0, |last| last.end)
    }

    fn proof_len(&self) -> usize {
        2 * self.chunk + 2 * ((1 + self.calls()).next_power_of_two() - 1) + 1
    }

    fn verifier_len(&self) -> usize {
        2 + 2 * self.chunk
    }

    fn joint_rand_len(&self) -> usize {
        self.calls()
    }

    fn eval_output_len(&self) -> usize {
        1 + self.tables.len() + self.agreements.len()
    }

    fn prove_rand_len(&self) -> usize {
        2 * self.chunk
    }
}

impl Type for OneRecord {
    /// Cell of the record in each table.
    type Measurement = Vec<usize>;
    type AggregateResult = Vec<u128>;

    fn encode_measurement(&self, cells: &Vec<usize>) -> Result<Vec<Field128>, FlpError> {
        let is_in = |(cell, table): (&usize, &Range<usize>)| *cell < table.len();
        if cells.len() != self.tables.len() || !cells.iter().zip(&self.tables).all(is_in) {
            return Err(FlpError::Encode("the cells are not those of these tables".into()));
        }
        let mut vector = vec![Field128::zero(); self.input_len()];
        for (cell, table) in cells.iter().zip(&self.tables) {
            vector[table.start + cell] = Field128::one();
        }
        Ok(vector)
    }

    fn truncate(&self, input: Vec<Field128>) -> Result<Vec<Field128>, FlpError> {
        self.truncate_call_check(&input)?;
        Ok(input)
    }

    fn decode_result(&self, data: &[Field128], _reports: usize) -> Result<Vec<u128>, FlpError> {
        Ok(data.iter().map(|value| u128::from(*value)).collect())
    }

    fn output_len(&self) -> usize {
        self.input_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tables() -> Vec<SharedTable> {
        let table = |columns: &[usize], levels: &[usize]| SharedTable {
            columns: columns.to_vec(),
            levels: levels.to_vec(),
        };
        vec![table(&[0, 3], &[4, 2]), table(&[1, 3], &[3, 2]), table(&[2], &[5])]
    }

    /// Outputs of the circuit for a vector in the clear.
    fn outputs(circuit: &OneRecord, vector: &[Field128], random: u128) -> Vec<Field128> {
        let random = vec![Field128::from(random); circuit.joint_rand_len()];
        circuit.valid(&mut circuit.gadget(), vector, &random, 1).unwrap()
    }

    fn is_valid(circuit: &OneRecord, vector: &[Field128]) -> bool {
        outputs(circuit, vector, 0x1234_5678_9abc).iter().all(|output| *output == Field128::zero())
    }

    /// The valid vectors are those of the 4 · 3 · 5 · 2 records, of all vectors of one-hot tables.
    #[test]
    fn one_hot_tables_of_no_record_are_invalid() {
        let circuit = OneRecord::new(&tables());
        let mut valid = 0;
        for (first, second, third) in
            (0..8).flat_map(|a| (0..6).flat_map(move |b| (0..5).map(move |c| (a, b, c))))
        {
            let vector = circuit.encode_measurement(&vec![first, second, third]).unwrap();
            assert_eq!(is_valid(&circuit, &vector), first % 2 == second % 2, "{first} {second}");
            valid += usize::from(is_valid(&circuit, &vector));
        }
        assert_eq!(valid, 4 * 3 * 5 * 2);
    }

    #[test]
    fn cells_of_other_tables_are_refused() {
        let circuit = OneRecord::new(&tables());
        for cells in [vec![], vec![0, 0], vec![8, 0, 0], vec![0, 0, 0, 0]] {
            assert!(circuit.encode_measurement(&cells).is_err(), "{cells:?}");
        }
    }

    proptest! {
        /// Any other change of a record's vector is invalid: two people in one report, a negative count, half
        /// of a one in each of two cells.
        #[test]
        fn a_changed_vector_is_invalid(
            cells in (0usize..8, 0usize..3, 0usize..5),
            at in 0usize..19,
            change in prop_oneof![1u128..5, Just(u128::from(-Field128::one())), any::<u128>()],
            moved in proptest::option::of(0usize..19),
        ) {
            let circuit = OneRecord::new(&tables());
            let (first, second, third) = cells;
            let record = vec![first, 2 * second + first % 2, third];
            let honest = circuit.encode_measurement(&record).unwrap();
            prop_assert!(is_valid(&circuit, &honest));
            let mut changed = honest.clone();
            changed[at] += Field128::from(change);
            if let Some(moved) = moved {
                changed[moved] -= Field128::from(change);
            }
            let is_record = changed.iter().all(|value| u128::from(*value) < 2)
                && circuit.tables.iter().all(|table| {
                    changed[table.clone()].iter().map(|value| u128::from(*value)).sum::<u128>() == 1
                });
            let agrees = circuit.agreements.iter().all(|form| {
                form.iter().map(|(cell, weight)| changed[*cell] * *weight)
                    .fold(Field128::zero(), |sum, term| sum + term) == Field128::zero()
            });
            prop_assert_eq!(is_valid(&circuit, &changed), is_record && agrees);
        }
    }
}
