//! The hierarchy of described machines.

use thalweg_machine::{DomainId, LevelKind, Machine, UnitId};

fn read(text: &str) -> Machine {
    Machine::read(&format!("thalweg-machine 1\n{text}")).unwrap()
}

/// The kinds of the levels, and the numbers of their groups.
fn shape(machine: &Machine) -> Vec<(LevelKind, usize)> {
    machine.levels().iter().map(|level| (level.kind(), level.groups().len())).collect()
}

#[test]
fn levels_that_group_alike_are_one() {
    use LevelKind::{Cache, Core, Domain};
    assert_eq!(shape(&Machine::uniform(1, 1)), [(Core, 1)]);
    assert_eq!(shape(&Machine::uniform(1, 8)), [(Core, 8), (Domain, 1)]);
    let caches = "cache 1 per core\ncache 2 per 2 cores\ncache 3 per domain\n";
    let machine = read(&format!("domains 4\ncores 6 units 2\n{caches}"));
    assert_eq!(shape(&machine), [(Core, 24), (Cache(2), 12), (Cache(3), 4)]);
    let machine = read("domains 4\ncores 8\ncache 3 per 4 cores\n");
    assert_eq!(shape(&machine), [(Core, 32), (Cache(3), 8), (Domain, 4)]);
}

#[test]
fn each_group_is_a_union_of_nearer_groups() {
    let mixed = "domains 2\ncores 4 units 2\ndomains 2\ncores 2\ndomains 1\ncache 1 per core\n\
        cache 2 of 0-3 4-7 16-17\ncache 3 of 0-15 18-19\n";
    let machine = read(mixed);
    let levels = machine.levels();
    assert_eq!(levels.len(), 4, "{levels:?}");
    for (near, far) in levels.iter().zip(&levels[1..]) {
        for group in near.groups() {
            let of = |unit: &UnitId| far.group_of(*unit);
            assert!(group.iter().all(|unit| of(unit) == of(&group[0])));
        }
    }
    for level in &levels {
        let mut units: Vec<UnitId> = level.groups().concat();
        units.sort();
        assert!(units.iter().copied().eq((0..20).map(UnitId)));
        for (i, group) in level.groups().iter().enumerate() {
            assert!(group.iter().all(|unit| level.group_of(*unit) == i));
        }
    }
    // The cache of two domains stands behind the domains; the other units of that level stay in theirs.
    assert_eq!(levels[2].kind(), LevelKind::Domain);
    assert_eq!(levels[3].groups().iter().map(Vec::len).collect::<Vec<_>>(), [16, 2, 2]);
}

#[test]
fn a_cache_that_is_smaller_than_a_nearer_group_leaves_it_whole() {
    // The first cache of level 3 is larger than a domain and the second is smaller.
    let machine = read("domains 2\ncores 2\ndomains 1\ncores 4\ncache 3 of 0-3 6-7\n");
    assert_eq!(shape(&machine), [(LevelKind::Core, 8), (LevelKind::Domain, 3), (LevelKind::Cache(3), 2)]);
}

#[test]
fn units_of_a_domain_are_neighbours() {
    let machine = Machine::uniform(8, 10);
    assert_eq!(machine.units_of(DomainId(7)).first(), Some(&UnitId(70)));
    assert_eq!(machine.domain_of(UnitId(69)), DomainId(6));
    assert_eq!(machine.threads(), 80);
}

#[test]
#[should_panic(expected = "3 domains of 0 cores: expected from 1 to 8192 cores")]
fn a_machine_without_cores_is_refused() {
    Machine::uniform(3, 0);
}

#[test]
#[should_panic(expected = "the machine has 1025 domains, expected at most 1024")]
fn too_many_domains_are_refused() {
    Machine::uniform(1025, 1);
}
