"""Small worlds to write tables about: three subjects, in three languages, with stop words."""

import csv
import random

SUBJECTS = ("sport", "food", "space")
# content words of each subject, by column; the column's name does not say the language
LANGUAGES = {
    "title": {
        "sport": "goal match team player league coach",
        "food": "bread oven flour butter soup recipe",
        "space": "rocket orbit planet moon launch star",
    },
    "text": {
        "sport": "ballon match équipe joueur ligue entraîneur",
        "food": "pain fournil farine beurre soupe recette",
        "space": "fusée orbite planète lune lancement étoile",
    },
    "beschreibung": {
        "sport": "elfmeter spiel mannschaft spieler liga trainer",
        "food": "brot ofen mehl butter suppe rezept",
        "space": "rakete umlaufbahn planet mond raumfahrt stern",
    },
}
# many, so that no one of them is in half of the documents, which would leave it out by itself
_STOP_WORDS = {
    "title": "the of and it is in with as was for this that from by are be have not they were",
    "text": "le est dans la et les sont pour une avec des qui sur par plus ne pas ce cette mais ou",
    "beschreibung": "der aber in und die sind für eine mit dem auf das von nicht sich auch es an",
}
STOP_WORDS = {column: set(words.split()) for column, words in _STOP_WORDS.items()}


def sentence(column, subject, rng):
    """A text of a language about a subject: a stop word before each word of the subject."""
    small = _STOP_WORDS[column].split()
    large = LANGUAGES[column][subject].split()
    return " ".join(f"{rng.choice(small)} {rng.choice(large)}" for _ in range(8))


def rows(n_docs, columns=tuple(LANGUAGES), seed=0):
    """Yield an id, a subject and a text of each column for each document."""
    rng = random.Random(seed)
    for i in range(n_docs):
        subject = SUBJECTS[i % 3]
        yield {"id": f"d{i}", "kind": subject} | {c: sentence(c, subject, rng) for c in columns}


def write_table(path, documents):
    documents = list(documents)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(documents[0]))
        writer.writeheader()
        writer.writerows(documents)
    return documents
