"""Short texts about three things in two languages, and what answers are about."""

TOPICS = {
    "sport": (["ball", "goal", "team", "match"], ["tor", "spiel", "stürmer", "pokal"]),
    "food": (["butter", "garlic", "onion", "salt"], ["knoblauch", "zwiebel", "salz", "pfanne"]),
    "space": (["moon", "rocket", "orbit", "star"], ["mond", "rakete", "stern", "sonde"]),
}


def sentences(rng, language, n=8, length=6):
    words = [both[language] for both in TOPICS.values()]
    return [" ".join(rng.choice(own, length)) for own in words for _ in range(n)]


def topics_of(results):
    return {name.split("-")[0] for name in results.ids}
