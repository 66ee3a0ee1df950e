"""Makes parasail.tsv: random pairs and the scores that parasail computes for them.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install parasail==1.3.4
    /tmp/venv/bin/python apps/align/tests/fixture.py > apps/align/tests/parasail.tsv
"""

import random

import parasail

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYVBZX"


def mutated(letters, source, rate):
    """A copy of `source` with substitutions, deletions and insertions, between random letters."""
    result = "".join(random.choices(letters, k=random.randrange(30)))
    for letter in source:
        kind = random.random() / rate
        if kind < 0.4:
            result += random.choice(letters)
        elif kind < 0.7:
            continue
        elif kind < 1.0:
            result += letter + "".join(random.choices(letters, k=random.randrange(1, 12)))
        else:
            result += letter
    return result


def pair(letters):
    query = "".join(random.choices(letters, k=random.randrange(1, 160)))
    if random.random() < 0.2:
        return query, "".join(random.choices(letters, k=random.randrange(1, 160)))
    return query, mutated(letters, query, random.uniform(0.02, 0.5))


random.seed(20)
print("# parasail", parasail.__version__, "sw; columns: kind match mismatch open extend query target score", sep=" ")
for count in range(50):
    match, mismatch = random.randint(1, 9), random.randint(0, 9)
    extend = random.randint(0, 4)
    opening = extend + random.randint(0, 9)
    matrix = parasail.matrix_create("ACGT", match, -mismatch)
    query, target = pair("ACGT")
    score = parasail.sw(query, target, opening, extend, matrix).score
    print("dna", match, mismatch, opening, extend, query, target, score, sep="\t")
for count in range(50):
    extend = random.randint(0, 4)
    opening = extend + random.randint(0, 12)
    query, target = pair(AMINO_ACIDS)
    score = parasail.sw(query, target, opening, extend, parasail.blosum62).score
    print("protein", 0, 0, opening, extend, query, target, score, sep="\t")
