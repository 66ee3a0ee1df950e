//! The game of life against a reference that counts neighbours one by one, and against known results.

use proptest::prelude::*;
use thalweg_stencils::life::{Error, Life, Pattern, Rule, Settling, View};

const LIMIT: usize = 1 << 26;

fn cells(life: &Life, width: usize, height: usize) -> Vec<Vec<bool>> {
    let row = |y: usize| (0..width).map(|x| life.is_alive(x as i64, y as i64)).collect();
    (0..height).map(row).collect()
}

/// The next generation of a torus.
fn next(rule: Rule, cells: &[Vec<bool>]) -> Vec<Vec<bool>> {
    let (height, width) = (cells.len(), cells[0].len());
    let cell = |x: usize, y: usize| {
        let near = |i: usize| {
            let (dx, dy) = (i % 3, i / 3);
            cells[(y + height + dy - 1) % height][(x + width + dx - 1) % width]
        };
        let neighbours = (0..9).filter(|i| *i != 4 && near(*i)).count();
        rule.lives(cells[y][x], neighbours as u32)
    };
    (0..height).map(|y| (0..width).map(|x| cell(x, y)).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn a_torus_is_that_of_the_reference(
        seed: u64,
        (width, height) in (1usize..200, 1usize..40),
        (born, survives) in prop_oneof![Just((8u16, 12u16)), (0u16..512, 0u16..512)],
    ) {
        let digits = |set: u16| (0..9).filter(|n| set >> n & 1 == 1).map(|n| n.to_string()).collect::<String>();
        let rule: Rule = format!("B{}/S{}", digits(born), digits(survives)).parse().unwrap();
        let mut life = Life::random(seed, (width, height), rule, true, LIMIT).unwrap();
        let mut expected = cells(&life, width, height);
        for generation in 0..5 {
            prop_assert!(cells(&life, width, height) == expected, "generation {generation}");
            let population = expected.iter().flatten().filter(|alive| **alive).count();
            prop_assert_eq!(life.population(), population as u64);
            life.step().unwrap();
            expected = next(rule, &expected);
        }
    }

    /// On a large torus no cell reaches the border, so it is a plane.
    #[test]
    fn a_plane_is_the_middle_of_a_large_torus(seed: u64, width in 1usize..140, height in 1usize..70) {
        let random = Life::random(seed, (width, height), Rule::CONWAY, true, LIMIT).unwrap();
        // Without a position it is placed in the middle.
        let mut pattern = Pattern::parse(&random.to_rle()).unwrap();
        pattern.position = None;
        let mut plane = Life::plane(&pattern, LIMIT).unwrap();
        let mut torus = Life::torus(&pattern, (700, 650), LIMIT).unwrap();
        plane.run(250).unwrap();
        torus.run(250).unwrap();
        prop_assert_eq!(plane.population(), torus.population());
        let body = |life: &Life| life.to_rle().split_once('\n').unwrap().1.to_owned();
        prop_assert_eq!(body(&plane), body(&torus));
    }

    #[test]
    fn written_patterns_read_back_equal(seed: u64, width in 1usize..300, height in 1usize..40) {
        let life = Life::random(seed, (width, height), Rule::CONWAY, true, LIMIT).unwrap();
        let text = life.to_rle();
        prop_assert!(text.lines().all(|line| line.len() <= 70));
        let again = Life::plane(&Pattern::parse(&text).unwrap(), LIMIT).unwrap();
        prop_assert_eq!(again.population(), life.population());
        let body = |text: &str| text.split_once('\n').unwrap().1.to_owned();
        prop_assert_eq!(body(&again.to_rle()), body(&text));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "([0-9]{1,12}|[xybo$!#,=/ \n]|rule|x = [0-9]{1,12}, y = 9\n){0,40}") {
        if let Ok(pattern) = Pattern::parse(&text) {
            let _ = Life::plane(&pattern, 1 << 16);
        }
    }
}

#[test]
fn the_r_pentomino_settles_at_generation_1103_with_116_cells() {
    let mut life = Life::plane(&Pattern::named("r-pentomino").unwrap(), LIMIT).unwrap();
    let mut settling = Settling::new(&life);
    let mut populations = vec![life.population()];
    for _ in 0..2000 {
        life.step().unwrap();
        settling.observe(&life);
        populations.push(life.population());
    }
    crate::assert_any_team(&life.to_rle(), || {
        let mut again = Life::plane(&Pattern::named("r-pentomino").unwrap(), LIMIT).unwrap();
        again.run(2000).unwrap();
        again.to_rle()
    });
    assert_eq!(populations[1103..].iter().find(|count| **count != 116), None);
    assert_ne!(populations[1102], 116);
    let settled = settling.settled().expect("settled");
    assert_eq!((settled.generation, settled.ships), (1103, 6));
    // Blinkers have period 2, gliders 4.
    assert_eq!(settled.period, 4);
}

#[test]
fn a_gun_emits_a_glider_every_30_generations() {
    let mut life = Life::plane(&Pattern::named("gosper-gun").unwrap(), LIMIT).unwrap();
    let mut settling = Settling::new(&life);
    let mut before = life.population();
    assert_eq!(before, 36);
    for _ in 0..20 {
        for _ in 0..30 {
            life.step().unwrap();
            settling.observe(&life);
        }
        assert_eq!(life.population(), before + 5, "generation {}", life.generation());
        before = life.population();
    }
    assert_eq!(settling.settled(), None);
}

/// Ships that will collide have a constant population until then.
#[test]
fn a_plane_has_not_settled_while_ships_approach() {
    let towards = "x = 303, y = 303\nbo$2bo$3o297$300b3o$300bo$301bo!";
    let mut life = Life::plane(&Pattern::parse(towards).unwrap(), LIMIT).unwrap();
    let mut settling = Settling::new(&life);
    for _ in 0..500 {
        life.step().unwrap();
        settling.observe(&life);
    }
    assert_eq!((life.population(), settling.settled()), (10, None));
    let away = "x = 303, y = 303\n300bo$301bo$299b3o297$3o$o$bo!";
    let mut life = Life::plane(&Pattern::parse(away).unwrap(), LIMIT).unwrap();
    let mut settling = Settling::new(&life);
    for _ in 0..500 {
        life.step().unwrap();
        settling.observe(&life);
    }
    let settled = settling.settled().expect("settled");
    assert_eq!((settled.generation, settled.period, settled.ships), (0, 4, 2));
}

#[test]
fn a_torus_settles_when_its_cells_repeat() {
    // A pulsar has period 3; a glider on a torus of 8 cells comes round after 32 generations.
    let pulsar = "x = 13, y = 13\n2b3o3b3o2$o4bobo4bo$o4bobo4bo$o4bobo4bo$2b3o3b3o2$2b3o3b3o$o4bobo4bo$\
                  o4bobo4bo$o4bobo4bo2$2b3o3b3o!";
    for (text, size, period) in [(pulsar, (20, 20), 3), ("x = 3, y = 3\nbo$2bo$3o!", (8, 8), 32)] {
        let mut life = Life::torus(&Pattern::parse(text).unwrap(), size, LIMIT).unwrap();
        let mut settling = Settling::new(&life);
        for _ in 0..300 {
            life.step().unwrap();
            settling.observe(&life);
        }
        let settled = settling.settled().expect("settled");
        assert_eq!((settled.generation, settled.period, settled.ships), (0, period, 0));
    }
}

#[test]
fn mistakes_in_patterns_have_a_place() {
    for (text, line, column, what) in [
        ("", 1, 1, "ends without a header"),
        ("#C only a comment\n", 1, 1, "ends without a header"),
        ("bo$2bo$3o!", 1, 1, "not a field of a header"),
        ("x = 3\no!", 1, 1, "lacks x or y"),
        ("x = 3, y = -1\no!", 1, 8, "`-1` is no length"),
        ("x = 3, y = 99999999999\no!", 1, 8, "is no length"),
        ("x = 3, y = 3, z = 4\no!", 1, 15, "unknown field `z`"),
        ("x = 3, y = 3, rule = B9/S2\no!", 1, 15, "`B9/S2` is not of the form"),
        ("x = 3, y = 3, rule = B3/S23:T20,20\no!", 1, 15, "bounded grid"),
        ("x = 3, y = 3\nbo$\n2bq$3o!", 3, 3, "unexpected `q`"),
        ("x = 3, y = 3\r\nbo$\r2bq$3o!", 3, 3, "unexpected `q`"),
        // A state of a rule with more than two states.
        ("x = 3, y = 3\nxA!", 2, 2, "unexpected `A`"),
        ("#C\n#r 9/3\nx = 1, y = 1\no!", 2, 3, "rule `9/3` is not of the form"),
        ("#CXRLE Pos=1\nx = 1, y = 1\no!", 1, 8, "`Pos=1` is not a column and a row"),
        ("#CXRLE Pos=0,9223372036854775807 Gen=2\nx = 1, y = 1\no!", 1, 8, "of numbers up to 2^60"),
        ("#CXRLE Pos=1,1 Gen=-1\nx = 1, y = 1\no!", 1, 16, "`Gen=-1` is not a generation"),
        ("x = 1, y = 1\n#CXRLE Gen=18446744073709551615\no!", 2, 8, "up to 2^60"),
        ("x = 3, y = 3\n4o!", 2, 2, "row 1 has a cell at 4, the header says x = 3"),
        ("x = 3, y = 1\no$o!", 2, 3, "row 2 has cells, the header says y = 1"),
        ("x = 3, y = 1\n0o!", 2, 2, "a run of 0"),
        ("x = 3, y = 1\n99999999999o!", 2, 10, "a run is longer"),
        ("x = 3, y = 1\no3!", 2, 3, "a number before `!`"),
        ("x = 3, y = 1\n#C\no\n", 3, 2, "has no end"),
    ] {
        let Err(Error::Rle { line: l, column: c, what: w }) = Pattern::parse(text) else {
            panic!("{text:?} is read")
        };
        assert!((l, c) == (line, column) && w.contains(what), "{text:?}: {l}:{c} {w}");
        assert!(w.contains("help:"), "{w}");
    }
}

#[test]
fn texts_of_other_programs_are_read() {
    let glider = Pattern::named("glider").unwrap();
    for text in [
        "\u{feff}x = 3, y = 3\nbo$2bo$3o!",
        "#C old line ends\rx = 3, y = 3, rule = B3/S23\rbo$2bo$3o!\r",
        "#C\r\nx = 3, y = 3\r\nbo$\r\n\r\n2bo$3o!\r\n",
        "x = 3, y = 3\nbx$\ny.z$o2A!",
        // The rule of the header comes before that of a comment.
        "#r 23/36\nx = 3, y = 3, rule = 23/3\nbo$2bo$3o!",
    ] {
        let read = Pattern::parse(text).unwrap();
        let life = Life::plane(&read, LIMIT).unwrap();
        let expected = if text.contains('z') { "bo$obo$3o!" } else { "bo$2bo$3o!" };
        assert_eq!(life.to_rle().lines().last(), Some(expected), "{text:?}");
        assert_eq!(read.rule, glider.rule);
    }
    // A comment has the rule of a header without one, before or after it.
    for text in ["#r 23/36\nx = 1, y = 1\no!", "x = 1, y = 1\n#r B36/S23\no!"] {
        assert_eq!(Pattern::parse(text).unwrap().rule.to_string(), "B36/S23");
    }
}

#[test]
fn a_rule_replaces_that_of_the_text_unread() {
    let rule: Rule = "B36/S23".parse().unwrap();
    for text in [
        "x = 1, y = 1, rule = B3/S23:T10,10\no!",
        "x = 1, y = 1, rule = Life\no!",
        "#r Life\nx = 1, y = 1\no!",
        "x = 1, y = 1\no!",
    ] {
        assert_eq!(Pattern::parse_with_rule(text, rule).unwrap().rule, rule, "{text:?}");
    }
    assert!(Pattern::parse("x = 1, y = 1, rule = Life\no!").is_err());
    assert!(Pattern::parse_with_rule("x = 1, rule = Life\no!", rule).is_err());
}

#[test]
fn a_pattern_that_was_written_goes_on_where_it_was() {
    let glider = Pattern::named("glider").unwrap();
    let worlds = [Life::plane(&glider, LIMIT).unwrap(), Life::torus(&glider, (11, 9), LIMIT).unwrap()];
    for mut life in worlds {
        let is_torus = life.is_torus();
        for _ in 0..50 {
            let read = Pattern::parse(&life.to_rle()).unwrap();
            let mut again = match is_torus {
                true => Life::torus(&read, (11, 9), LIMIT).unwrap(),
                false => Life::plane(&read, LIMIT).unwrap(),
            };
            assert_eq!(again.to_rle(), life.to_rle());
            life.step().unwrap();
            again.step().unwrap();
            assert_eq!(again.to_rle(), life.to_rle());
        }
    }
    // What is beyond the sides of a torus continues on the opposite ones.
    let placed = Pattern::parse("#CXRLE Pos=-2,8 Gen=3\nx = 3, y = 3\nbo$2bo$3o!").unwrap();
    let mut life = Life::torus(&placed, (10, 10), LIMIT).unwrap();
    assert!([(9, 8), (0, 9), (8, 0), (9, 0), (0, 0)].iter().all(|(x, y)| life.is_alive(*x, *y)));
    life.run(40).unwrap();
    assert_eq!((life.population(), life.generation()), (5, 43));
    assert!([(9, 8), (0, 9), (8, 0), (9, 0), (0, 0)].iter().all(|(x, y)| life.is_alive(*x, *y)));
}

#[test]
fn worlds_that_take_too_much_memory_are_refused() {
    let dot = Pattern::parse("x = 1000000000, y = 1000000000\no!").unwrap();
    assert!(matches!(Life::plane(&dot, LIMIT), Err(Error::Memory { generation: 0, .. })));
    assert!(matches!(Life::torus(&dot, (1 << 30, 1 << 30), LIMIT), Err(Error::Memory { .. })));
    assert!(matches!(Life::torus(&dot, (10, 10), LIMIT), Err(Error::Size { .. })));
    // A gun grows until its gliders reach the limit, and the world remains as it was.
    let mut life = Life::plane(&Pattern::named("gosper-gun").unwrap(), 1 << 14).unwrap();
    let Err(Error::Memory { generation, .. }) = life.run(10_000) else { panic!("no limit") };
    assert_eq!(generation, life.generation());
    assert!(generation > 200, "{generation}");
    assert!(Life::plane(&Pattern::parse("x = 1, y = 1, rule = B0/S\no!").unwrap(), LIMIT).is_err());
}

#[test]
fn pictures_show_the_cells() {
    let life = Life::plane(&Pattern::named("glider").unwrap(), LIMIT).unwrap();
    let view = View { left: 0, top: 0, width: 3, height: 3 };
    assert_eq!(view.lines(&life), [" ▀▄", "▀▀▀"]);
    assert_eq!(view.resized(5, 5), View { left: -1, top: -1, width: 5, height: 5 });
    let png = view.png(&life, 2).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut bits = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bits).unwrap();
    assert_eq!((info.width, info.height, info.line_size), (6, 6, 1));
    let rows: Vec<u8> = bits.iter().map(|row| row >> 2).collect();
    assert_eq!(rows, [0b110011, 0b110011, 0b111100, 0b111100, 0, 0]);
    assert!(View { width: 0, ..view }.png(&life, 1).is_err());
    assert!(view.png(&life, 1 << 40).is_err());
}

#[test]
fn named_patterns_are_read() {
    for (name, _) in Pattern::names() {
        assert!(Pattern::named(name).is_some(), "{name}");
    }
    assert_eq!(Pattern::named("acorn").map(|pattern| (pattern.width, pattern.height)), Some((7, 3)));
    assert!(Pattern::named("gosper").is_none());
}
