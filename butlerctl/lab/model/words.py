"""The words that the lab's model knows: English, German, French and Spanish in one table each.

Tables are not split by language, because a household mixes them; only the language of the answer is decided
(`language_of`). Words that mean different things in two of the languages are left out or need their neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

LANGUAGES = ("en", "de", "fr", "es")


def word_set(text: str) -> frozenset[str]:
    """The words of a text that lists them."""
    return frozenset(text.split())


_TELLTALES: Mapping[str, str] = {
    "en": "the to on for add put please what which is are my at and with from by due show list read wife "
    "husband does have of called in calendar task",
    "de": "der die das den dem des ein eine einen bitte und für von bis uhr mit auf im am zum zur was welche hat ist "
    "trag trage füge hinzu meiner meine mein frau mann mannes zeig zeige lies setz setze schreib erstelle kalender "
    "aufgabe aufgaben termin tabelle termine um morgen heute wie stehen steht lege an",
    "fr": "le la les du des un une pour avec dans sur ajoute ajouter mets quelles quels quel qu est ce que mon ma mes "
    "femme mari et à au aux calendrier tâche tâches agenda montre lis feuille inscris demain aujourd hui de heures "
    "crée note ligne sont",
    "es": "el la los las del un una para con en añade agrega pon apunta qué cuáles mi mis mujer marido esposa esposo "
    "y al calendario tarea tareas muestra muéstrame lee hoja anota mañana hoy tiene de hay crea por favor fila a",
}
_TELLTALE_SETS = {code: word_set(words) for code, words in _TELLTALES.items()}

WEEKDAYS: Mapping[str, int] = {
    name: index
    for index, names in enumerate(
        (
            "monday montag lundi lunes",
            "tuesday dienstag mardi martes",
            "wednesday mittwoch mercredi miércoles miercoles",
            "thursday donnerstag jeudi jueves",
            "friday freitag vendredi viernes",
            "saturday samstag sonnabend samedi sábado sabado",
            "sunday sonntag dimanche domingo",
        )
    )
    for name in names.split()
}

MONTHS: Mapping[str, int] = {
    name: index
    for index, names in enumerate(
        (
            "january januar jänner janvier enero jan janv ene",
            "february februar février fevrier febrero feb févr",
            "march märz maerz mars marzo mar mär",
            "april avril abril apr avr abr",
            "may mai mayo",
            "june juni juin junio jun",
            "july juli juillet julio jul juil",
            "august août aout agosto aug ago",
            "september septembre septiembre sep sept",
            "october oktober octobre octubre oct okt",
            "november novembre noviembre nov",
            "december dezember décembre decembre diciembre dec dez dic",
        ),
        start=1,
    )
    for name in names.split()
}

NUMBERS: Mapping[str, int] = {
    name: value
    for value, names in enumerate(
        (
            "one ein eine einen einer un una une",
            "two zwei deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete",
            "eight acht huit ocho",
            "nine neun neuf nueve",
            "ten zehn dix diez",
            "eleven elf onze once",
            "twelve zwölf douze doce",
        ),
        start=1,
    )
    for name in names.split()
}

# Days from today. French `hier` is German for "here" and is left out.
RELATIVE_DAYS: Mapping[str, int] = {
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "übermorgen": 2,
    "après-demain": 2,
    "pasado mañana": 2,
    "today": 0,
    "tonight": 0,
    "heute": 0,
    "aujourd'hui": 0,
    "aujourd’hui": 0,
    "hoy": 0,
    "tomorrow": 1,
    "morgen": 1,
    "demain": 1,
    "mañana": 1,
    "yesterday": -1,
    "gestern": -1,
    "ayer": -1,
}

# A half of the day stands behind a preposition or right behind a day, which is blanked by then ("Friday evening").
AFTERNOON = (
    r"(?:(?:in the|this|at) |(?<=\x00) ?)(?:afternoon|evening|night)|(?:am |(?<=\x00) ?)(?:nachmittag|abend)|"
    r"nachmittags|abends|(?:de|por) la (?:tarde|noche)|du soir|ce soir|de l['’]après-midi|"
    r"(?<=\x00) ?(?:après-midi|soir)"
)
MORNING = (
    r"(?:(?:in the|this) |(?<=\x00) ?)morning|(?:am |(?<=\x00) ?)(?:morgen|vormittag|früh)|morgens|vormittags|"
    r"(?:de|por) la mañana|du matin|ce matin|(?<=\x00) ?matin"
)

# People: whoever has one of these roles as a profile's name answers to all words of the role.
ROLES: tuple[frozenset[str], ...] = tuple(
    word_set(words)
    for words in (
        "husband hubby mann mannes manns ehemann ehemannes ehemanns gatte gatten mari époux epoux marido esposo",
        "wife missus frau ehefrau gattin femme épouse epouse mujer esposa",
        "mother mom mum mama mutter mère mere maman madre mamá",
        "father dad papa vater vaters père pere padre papá",
        "grandmother grandma granny oma großmutter grand-mère mamie abuela",
        "grandfather grandpa grandad opa großvater grand-père papi abuelo",
        "daughter tochter fille hija",
        "son sohn sohnes fils hijo",
        "partner partnerin partenaire pareja",
        "nanny kindermädchen nounou niñera",
    )
)

CALENDAR = (
    r"calend(?:ar|ars|rier|riers|ario|arios)|\w*kalenders?|agendas?|diary|schedule|events?|appointments?|meetings?|"
    r"\w*termine?[ns]?|veranstaltung(?:en)?|eventos?|citas?|reuni(?:ón|ones)|rendez-vous|rdv|"
    r"[ée]v[éè]nements?|r[ée]unions?|free|frei|libre|busy"
)
TASKS = (
    r"tasks?|to-?dos?|to do|reminders?|remind|\w*aufgaben?(?:listen?)?|erinner\w*|recordatorios?|tareas?|pendientes?|recuérda\w*|"
    r"tâches?|taches?|rappels?|rappelle\w*|chores?"
)
TASKS_WEAK = r"lists?|listen?|listas?|open|offen\w*|due|fällig\w*|be done|erledigen|à faire|(?:que|por) hacer"
SHEETS = (
    r"sheets?|spreadsheets?|rows?|tabs?|\w*tabellen?|\w*tabellenblatt|\w*blatt|blattes|zeilen?|reihe|hojas?|filas?|"
    r"planillas?|feuilles?|tableau|tableur|lignes?|onglets?|pestañas?|ledger"
)
SHEETS_WEAK = (
    r"expenses?|ausgaben|gastos?|dépenses?|spen[dt]|ausgegeben|gastado|dépensé|log|columns?|values?|"
    r"werte[n]?|valores|valeurs"
)

# Where an object is put. Such a phrase is never part of a title.
CONTAINERS = (
    r"calend(?:ar|rier|ario)|\w*kalenders?|agenda|diary|schedule|"
    r"(?:task |to-?do |home )?list|aufgabenliste|to-?do-?liste|liste(?: des? tâches)?|lista(?: de tareas)?|tasks|to-?dos|"
    r"aufgaben|tareas|tâches|spreadsheet|sheet|tabelle|tabellenblatt|blatt|hoja(?: de cálculo)?|"
    r"feuille(?: de calcul)?|tableur|tab|reiter|pestaña|onglet"
)

WRITE_VERBS = (
    r"add|put|create|make|schedule|book|enter|insert|append|record|log|note|jot|write|set|plan|block|remind|save|"
    r"register|place|"
    r"trage?|eintragen|füge?|hinzufügen|hinzu|erstelle?n?|leg(?:e|en)?|anlegen|setze?n?|schreib(?:e|en)?|notiere?n?|"
    r"plane?n?|vermerke?n?|erinner[en]?|pack(?:e|en)?|buche?n?|anhängen|häng(?:e|en)?|ergänze?n?|reserviere?n?|"
    r"ajoute[rz]?|mets|mettre|mettez|crée[rz]?|inscri(?:s|re|vez)|note[rz]?|planifie[rz]?|enregistre[rz]?|rappelle\w*|"
    r"programme[rz]?|insère|"
    r"añad(?:e|ir|a)|agrega[r]?|agregue|pon|poner|ponme|ponle|crea[r]?|cree|apunta[r]?|anota[r]?|anote|inserta[r]?|"
    r"registra[r]?|recuérda\w*|programa[r]?|escribe|mete"
)
# What the household's tools cannot do.
OTHER_VERBS = (
    r"remove|delete|cancel|move|reschedule|rename|change|postpone|lösche?n?|entferne?n?|storniere?n?|verschiebe?n?|"
    r"ändere?n?|supprime[rz]?|annule[rz]?|déplace[rz]?|borra[r]?|elimina[r]?|cancela[r]?|mueve|cambia[r]?"
)
READ_VERBS = (
    r"show|list|read|tell|display|see|check|look|fetch|get|give|find|view|"
    r"zeige?n?|anzeigen|liste|auflisten|lies|lese?n?|vorlesen|nenne?n?|sage?n?|sehen|gib|schau\w*|prüfe?n?|"
    r"montre[rz]?|montre-moi|affiche[rz]?|lis|lire|lis-moi|dis|dis-moi|donne[rz]?|donne-moi|liste[rz]?|voir|"
    r"muestra|muéstrame|mostrar|lee|léeme|leer|dime|enséñame|lista[r]?|enumera|ver|dame"
)
# Reading verbs that say so wherever they stand; "list" and "note" may be nouns.
READ_ANYWHERE = (
    r"show|tell me|read|see|know|anzeigen|auflisten|vorlesen|sehen|wissen|hören|zeigen|montrer|voir|savoir|lire|"
    r"mostrar|ver|saber|leer"
)
QUESTION_WORDS = (
    r"what|what['’]s|whats|which|when|is|are|does|do|did|has|have|any|anything|how|who|"
    r"was|welche[rsn]?|wann|hat|habe|haben|gibt|ist|sind|steht|stehen|wie|wieviel|"
    r"quel(?:le)?s?|qu['’]est-ce|qu['’]y|est-ce|y|combien|quoi|que|qu['’]a|"
    r"qué|que|cuál(?:es)?|cuándo|cuánto|hay|tiene|tengo"
)
COURTESY = (
    r"please|kindly|hey|hi|hello|dear|butler(?=[,:])|now|just|so|ok|okay|also|"
    r"(?:can|could|would|will) you|i(?: would|['’]d) like(?: you)? to|i want you to|i need you to|"
    r"bitte|hallo|kannst du|könntest du|könnten sie|können sie|würdest du|würden sie|mal|"
    r"s['’]il (?:te|vous) pla[iî]t|bonjour|peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|"
    r"por favor|hola|puedes|podrías|podría|puede"
)

# "Title" alone may belong to a title: it is a label before a colon, or behind "with the".
TITLE_LABELS = (
    r"called|titled|named|entitled|(?:with|under) (?:the )?(?:title|summary|subject|name)|"
    r"namens|heißt|(?:mit|unter) (?:dem|der) (?:titel|betreff|namen|bezeichnung)|"
    r"appelée?|intitulée?|nommée?|avec (?:le|pour) titre|llamad[oa]|titulad[oa]|con (?:el )?título|"
    r"(?:title|summary|subject|name|titel|betreff|titre|título)(?=\s*[:=])"
)

# Words that may stand before or after a title without being part of it.
_EDGES = (
    "a an the and to on in into onto at by for from of with until till between due is it be should which that this "
    "my our his her their new please event appointment entry item task todo to-do reminder row line start starts starting begin "
    "begins beginning end ends ending last lasts lasting called titled named title calendar day date only just as "
    "category there time duration thanks thank you whole will up s has have had needs need must do done dated "
    "der die das den dem des ein eine einen einem einer und am im in ins zu zum zur um von vom bis für mit auf an ab "
    "bei als mein meine meinen meinem meiner meines unser unsere sein seine ihr ihre neu neue neuen neuer neues "
    "termin termins aufgabe eintrag zeile reihe bitte ein hinzu fällig namens los geht geht's beginn ende dauer dort "
    "uhr titel wird soll danke zwar hat haben muss machen erledigen vom "
    "le la les l un une des du de d au aux à a et dans sur pour par avec mon ma mes son sa ses notre nouveau "
    "nouvelle nouvel événement évènement rendez-vous tâche ligne rappel merci chez jusqu'à avant doit faire "
    "el los las del al y en para por con mi mis su sus nuestro nuevo nueva evento cita tarea fila entrada desde hasta "
    "antes gracias una uno día tiene que debe hacer"
)
EDGE_WORDS = word_set(_EDGES)
# After a title only these are cut: "Dentist appointment" keeps its last word, "Dentist to the" does not.
TRAILING_WORDS = EDGE_WORDS - word_set(
    "event appointment entry item task todo to-do reminder row line termin termins aufgabe eintrag zeile reihe "
    "événement évènement rendez-vous tâche ligne rappel evento cita tarea fila entrada last up title titel day time "
    "start end date calendar"
)

REPORTING_CLAUSE = (
    r"[,.;]?\s*(?:\b(?:and|then|und|dann|et|puis|y|luego)\b\s+)*"
    r"\b(?:tell me|give me|quote|report back|let me know|confirm|nenne? mir|sage? mir|gib mir|bestätige?|"
    r"dis-moi|donne-moi|confirme[rz]?|dime|dame|confírma\w*)\b[^.!?]*"
)

CATEGORY = (
    r"[,;(]?\s*(?:(?:in|under|mit|avec|dans|en|con)\s+)?(?:(?:the|der|la)\s+)?"
    r"(?:category|kategorie|catégorie|categoría)\s*[:=]?\s*[\"'“„«]?(?P<name>[\w-]+)[\"'”“»]?"
)

# Between a request to append and the cells.
ROW_WORDS = (
    r"(?:new |neue |nueva |nouvelle )?(?:rows?|lines?|entry|zeile|reihe|eintrag|fila|entrada|ligne|entrée)|"
    r"(?:these |the |following |folgenden? |los |les )*(?:values?|cells?|data|werten?|daten|valores|datos|valeurs|données)|"
    r"spreadsheets?|sheets?|tabs?|tabellen?(?:blatt)?|hojas?|feuilles?"
)

LIMITS = (
    r"(?:at most|up to|no more than|the first|first|limit(?:ed)?(?: to| of)?|maximum(?: of)?|max\.?|höchstens|maximal|"
    r"die ersten|au plus|au maximum|les|como máximo|los primeros|las primeras|máximo|"
    r"(?:the )?next|(?:die )?nächsten|los próximos)\s+(?P<n>\d{1,3})\b(?!\s*[.:/h]\d|\s+(?:days?|tagen?|días|(?:prochains )?jours))"
)


def one_of(words: Iterable[str]) -> str:
    """A pattern that matches the longest of these words."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def pattern(alternatives: str) -> re.Pattern[str]:
    """Whole words only, whatever their case."""
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE)


def language_of(text: str) -> str:
    """The language to answer in: the one whose frequent words occur most; English when none does."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    scores = {code: sum(word in marks for word in words) for code, marks in _TELLTALE_SETS.items()}
    return max(LANGUAGES, key=lambda code: scores[code])
