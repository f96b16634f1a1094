"""Texts and their tokens by each kind of recipe: `python -m tests.explorer.record_tokens`.

Python and the page must split them alike: `test_tokens.py` and `frontend/test/tokens.test.js` read
the same file.
"""

import json
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from coview.explorer.page_recipes import page_recipe
from coview.reading.text import TextRecipe, TokensRecipe, token_cell
from coview.reading.words import split_words, stop_words

FILE = Path(__file__).parent / "tokens.json"

TEXTS = [
    "",
    "   ",
    "The quick brown fox, the lazy dog: it's 2024!",
    "A naïve x_ray of 2 cafés, in 2024",
    "ÄRGER über Straßen und GROẞE Fuß-Wege",
    "İstanbul'da IŞIK ılık",
    "ΟΔΥΣΣΕΥΣ, ο ΣΟΦΟΣ; Σ Σ. ΑΣΑ",
    "e\u0301te\u0301 et \u00e9t\u00e9, A\u030angstro\u0308m",
    "हिन्दी भाषा में लिखा है",
    "اللُّغَة العَرَبِيَّة ١٢٣ می‌خواهم",
    "東京タワーへ iPhone で行く。3月",
    "我们在北京的大学学习中文,AI时代。",
    "ｱｲｳｴｵ カタカナ ひらがな 々〆",
    "葛\U000e0100城市 が\u309a ハ\u3099",
    "한국어 문장을 나눕니다",
    "ไทยไม่มีช่องว่าง",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 🙂 emoji👩‍👩‍👧 𐐀𐐁",
    "soft\u00adhyphen zero\u200dwidth non\u200cjoiner",
    "tabs\tand\nlines\r\nand\x1cseparators\x85and\u2028more\u3000spaces",
    "x y z a b",
    "½ ² ³ Ⅷ ⅷ ③ 四",
    "<script>alert('x')</script> & \"quotes\" \\ back",
    "_private __dunder__ snake_case_name CamelCase",
    "1,000.50 3.14e-10 v1.2.3 C++ C# .NET",
    "שלום עולם",
    "ﬁ ﬂ ﬃ ligatures №5 ™",
    "a-b c--d 'quoted' don't",
    "ǅ ǆ Ǆ ŉ ĳ Ĳ",
    "O\u0345 \u1fb3 ᾳ ͅ",
]
CELLS = ["", "a b  c", '["x y", "z", 3]', "[not json", "a;b ; c", "\u3000wide\x1cspace "]

RECIPES = {
    "words": CountVectorizer(tokenizer=split_words, token_pattern=None),
    "words, English": CountVectorizer(
        tokenizer=split_words, token_pattern=None, stop_words=sorted(stop_words("en"))
    ),
    "words, German, pairs": CountVectorizer(
        tokenizer=split_words,
        token_pattern=None,
        stop_words=sorted(stop_words("de")),
        ngram_range=(1, 2),
    ),
    "words with case, threes": CountVectorizer(
        tokenizer=split_words, token_pattern=None, lowercase=False, ngram_range=(2, 3)
    ),
    "scikit-learn": CountVectorizer(),
    "scikit-learn, English": CountVectorizer(stop_words="english", ngram_range=(1, 2)),
    "letters": CountVectorizer(token_pattern=r"[^\W\d_]{2,}"),
    "a group": CountVectorizer(token_pattern=r"(?u)\b([^\W_]+)[-_]"),
    "not spaces": CountVectorizer(token_pattern=r"[^\s,;]+", lowercase=False),
    "sets": CountVectorizer(token_pattern=r"[\w.+#-]+|\d{1,3}(?:,\d{3})*|[\u4e00-\u9fff]"),
    "ASCII": CountVectorizer(token_pattern=r"(?a)\b\w\w+\b"),
    "no letters": CountVectorizer(token_pattern=r"[^\w\s]|[\W_]\B"),
    "accents": CountVectorizer(strip_accents="unicode"),
    "ASCII accents": TfidfVectorizer(strip_accents="ascii", sublinear_tf=True),
    "characters": CountVectorizer(analyzer="char", ngram_range=(1, 3)),
    "characters of words": CountVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
}


def cases():
    """Yield the name, the recipe for the page, and pairs of texts and tokens."""
    for name, vectorizer in RECIPES.items():
        recipe, _ = page_recipe(TextRecipe("text", vectorizer, []))
        analyze = vectorizer.build_analyzer()
        yield name, recipe, [[text, analyze(text)] for text in TEXTS]
    for separator in (None, ";"):
        recipe, _ = page_recipe(TokensRecipe("tags", [], separator))
        pairs = [[cell, token_cell(cell, separator) or []] for cell in CELLS]
        yield f"tokens, separator {separator}", recipe, pairs


def record():
    """Write the file anew."""
    lines = [json.dumps({"name": n, "recipe": r, "texts": t}) for n, r, t in cases()]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


if __name__ == "__main__":
    record()
