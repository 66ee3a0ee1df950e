//! A table with aligned columns.

use std::fmt;

/// A header row and rows of cells. The first column is aligned left, the others right.
pub struct Table {
    rows: Vec<Vec<String>>,
    /// The last column is text, aligned left.
    text_last: bool,
}

impl Table {
    /// A table with only its header row.
    pub fn new(head: &[&str]) -> Table {
        Table { rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()], text_last: false }
    }

    /// The same table with its last column aligned left.
    pub fn text_last(mut self) -> Table {
        self.text_last = true;
        self
    }

    /// Adds a row. It must have as many cells as the header.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.rows[0].len());
        self.rows.push(cells);
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.rows[0].len()).map(|column| self.width(column)).collect();
        for row in &self.rows {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(f, "{cell:<width$}")?,
                    _ if self.text_last && column == widths.len() - 1 => write!(f, "  {cell}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
