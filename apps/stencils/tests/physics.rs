//! Heat and fields against theory, and against references that compute cell by cell.

use thalweg_stencils::fdtd::Cavity;
use thalweg_stencils::heat::Heat;

#[test]
fn heat_is_that_of_the_reference() {
    let (rows, columns) = (13, 29);
    let mut heat = Heat::new(rows, columns);
    let mut expected = vec![vec![0.0; columns + 2]; rows + 2];
    for row in 0..rows {
        for column in 0..columns {
            expected[row + 1][column + 1] = heat.temperature(row, column);
        }
    }
    heat.run(50);
    for _ in 0..50 {
        let old = expected.clone();
        for row in 1..=rows {
            for column in 1..=columns {
                let around =
                    old[row - 1][column] + old[row + 1][column] + old[row][column - 1] + old[row][column + 1];
                expected[row][column] = old[row][column] + 0.2 * (around - 4.0 * old[row][column]);
            }
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            assert_eq!(heat.temperature(row, column), expected[row + 1][column + 1], "({row}, {column})");
        }
    }
}

/// The error of the method is of second order, so a plate of twice the cells has a quarter of it.
#[test]
fn a_sine_mode_decays_as_theory_says() {
    let mut errors = Vec::new();
    for (rows, columns) in [(31, 31), (63, 63), (127, 127)] {
        let mut heat = Heat::new(rows, columns);
        heat.run(100);
        let decay = heat.decay();
        assert!(decay.agrees(), "{decay:?}");
        assert!(decay.tolerance < 20.0 / (columns * columns) as f64, "{decay:?}");
        errors.push(decay.error().abs());
        crate::assert_any_team(&decay, || {
            let mut again = Heat::new(rows, columns);
            again.run(100);
            again.decay()
        });
    }
    for pair in errors.windows(2) {
        assert!((3.9..4.1).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
}

/// The field obeys the wave equation, in differences: that is the reference.
#[test]
fn a_field_is_that_of_the_reference() {
    let (rows, columns) = (11, 23);
    let mut cavity = Cavity::new(rows, columns);
    let read = |cavity: &Cavity| {
        let mut field = vec![vec![0.0; columns + 2]; rows + 2];
        for (row, cells) in field[1..=rows].iter_mut().enumerate() {
            (0..columns).for_each(|column| cells[column + 1] = cavity.field(row, column));
        }
        field
    };
    let mut states = vec![read(&cavity)];
    for _ in 0..60 {
        cavity.step();
        states.push(read(&cavity));
    }
    for three in states.windows(3) {
        let [before, now, after] = three else { unreachable!("windows of three") };
        for row in 1..=rows {
            for column in 1..=columns {
                let around =
                    now[row - 1][column] + now[row + 1][column] + now[row][column - 1] + now[row][column + 1];
                let here = now[row][column];
                let expected = 2.0 * here - before[row][column] + 0.25 * (around - 4.0 * here);
                assert!((after[row][column] - expected).abs() < 1e-13, "({row}, {column})");
            }
        }
    }
}

#[test]
fn a_cavity_resonates_as_theory_says() {
    let mut errors = Vec::new();
    for (rows, columns) in [(23, 31), (47, 63), (95, 127)] {
        let mut cavity = Cavity::new(rows, columns);
        cavity.run(400);
        let frequency = cavity.frequency();
        assert!(frequency.agrees(), "{frequency:?}");
        assert!(frequency.tolerance < 1.0 / (rows * rows) as f64, "{frequency:?}");
        errors.push(frequency.error().abs());
        crate::assert_any_team(&frequency, || {
            let mut again = Cavity::new(rows, columns);
            again.run(400);
            again.frequency()
        });
    }
    for pair in errors.windows(2) {
        assert!((3.9..4.1).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
}
