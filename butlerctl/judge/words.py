"""The few honest forms of a reply, in several languages: a question, a promise, doubt, the admission of a failure.

Everything else counts as a statement: the default is suspicion. A form only chooses the label of a failure, or says
that a reply denies what is there; it never proves that anything happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Stance(StrEnum):
    """What a reply as a whole does."""

    QUESTION = "question"
    PROMISE = "promise"
    DOUBT = "doubt"
    FAILURE = "failure"
    STATEMENT = "statement"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Reading:
    """The stance of a reply. `partly` is set when some clause of it admits a failure; `done` when one says it is done."""

    stance: Stance
    partly: bool = False
    done: bool = False

    @property
    def admits(self) -> bool:
        """Does it ask, decline or say that it failed?"""
        return self.stance in {Stance.QUESTION, Stance.DOUBT, Stance.FAILURE, Stance.NOTHING}


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")", re.IGNORECASE)


# Polite forms that hold a negation and deny nothing.
_IDIOMS = _words(
    r"no (problem|worries|trouble)|not (only|just|to worry)|(don't|do not) (worry|forget|hesitate)",
    r"kein(e|en)? (problem|sorge|thema)|nicht (nur|vergessen)|keine sorge",
    r"(sin|no hay|ningún) problemas?|no (te preocupes|se preocupe|olvides|solo)",
    r"(pas de|aucun) (problème|souci)|(ne )?t'inquiète pas|n'oublie[zs]? pas",
    r"nessun problema|non (preoccuparti|dimenticare|solo)",
    r"geen (probleem|zorgen)|niet (alleen|vergeten)|vergeet niet",
    r"sem problemas?|não (se preocupe|esqueça|só)",
    r"nie ma (problemu|sprawy)|nie (martw się|zapomnij|tylko)",
    r"(inte|ikke) (bara|bare|kun|minst|bekymra|bekymr)\w*|(glöm|glem) (inte|ikke)|inga? problem\w*|intet problem",
    # Said of a success: there was no error.
    r"(without|no|zero) (any )?(errors?|issues?|problems?|failures?)|ohne (fehler|probleme)|kein(e|erlei) (fehler|probleme)",
    r"sin (ningún )?(error(es)?|fallos?|problemas?)|sans (aucune? )?(erreur|problème|souci)s?|senza (errori|problemi)|nessun errore",
    r"(zonder|geen) (fouten|problemen)|sem (erros?|falhas?|problemas?)|bez (błędów|problemów)|(utan|uden|uten) (fel|fejl|feil|problem\w*)\b",
)
_NO_ERROR_WITHOUT_BLANKS = re.compile(
    r"エラー(?:も)?(?:なく|なし)|問題(?:も)?(?:なく|ありません)|没有(?:错误|錯誤|问题)"
)
_FAILURE = _words(
    # English
    r"(could|did|was|were|has|have|had|does|do|is|are|would|can)(n['’]t|['’]t| ?not)(?! (?:overlap|clash|conflict))",
    r"won['’]t\b|nothing (was|has been|got)",
    r"cannot|unable|fail(ed|ure|s)?\b|error|went wrong|not (been )?\w+ed\b|not (available|reachable|possible|able)",
    r"unavailable|unsuccessful|rejected|refused|timed out|no (usable )?(answer|response|reply|tool)\b|didn['’]t|never ran",
    # German
    r"nicht\b|fehlgeschlagen|gescheitert|misslungen|fehler|schief\w*|unmöglich|abgelehnt|kein(e|en)? (antwort|werkzeug|zugriff|zugang|berechtigung)"
    r"|nichts (eingetragen|angelegt|gespeichert|notiert|hinzugefügt|gebucht)",
    # Spanish
    r"no (?:(?:se|lo|la|me|le) )?(?:he|ha|han|hay forma|pude|pudo|puedo|puede|podido|fue|funcion\w+|logr\w+|consegu\w+|está|esta"
    r"|existe|encuentr\w+|respond\w+|tengo)\b",
    r"fall(ó|ado|o)\b|imposible|hubo un (error|problema)|rechaz\w+",
    # French
    r"n['’]a(i|s|vons|vez)? (pas|rien)|n['’]est pas|n['’]ont pas|ne (?:peux|peut|marche|fonctionne|répond|parviens|réussis)\w*"
    r"|n['’]arrive pas|pas (pu|été|réussi|marché|fonctionné|disponible|abouti)|échou\w+|échec|erreur|impossible|refus\w+",
    # Italian
    r"non (?:(?:si|l[oa]|mi|le) )?(?:è|e'|sono (?:riuscit|in grado)|ho|ha|posso|può|riesc\w+|funzion\w+|risponde|stat\w)",
    r"non sono (riuscit\w|stat\w)|errore|fallit\w|impossibile|rifiutat\w",
    # Dutch
    r"niet\b|mislukt|fout\b|onmogelijk|geweigerd|geen (antwoord|gereedschap)",
    # Portuguese
    r"n[ãa]o (?:(?:se|o|a|me) )?(?:foi|fui|consegui\w*|pude|p[ôo]de|posso|deu|est[áa]|funcion\w+|respond\w+|existe|encontr\w+|tenho)\b",
    r"falh(ou|a|ei)\b|erro\b|imposs[íi]vel|recus\w+|houve um (erro|problema)",
    # Polish
    r"nie (?:uda\w+|mog\w+|został\w*|doda\w+|zapis\w+|działa\w*|zadział\w+|jestem|mam|odpowi\w+|utworz\w+)|błąd|niepowodz\w+|odrzuc\w+",
    # Swedish, Danish, Norwegian
    r"inte\b|inget (har|är|blev)\b|misslyck\w+|neka(de|des|t)\b|avvisa(de|des|ts?)\b|ett fel\b",
    r"ikke\b|mislykke\w+|afvist|avvist|en (fejl|feil)\b",
    # Finnish, Czech, Russian
    r"en (voinut|pystynyt|onnistunut)|ei (onnistunut|voitu|lisätty|tallennettu)|epäonnistu\w+|virhe\w*",
    r"nepodařilo|nemohu|nemohl\w*|nelze|selhal\w*|odmítl\w*|chyba\b|не (удалось|смог\w*|получилось|был\w*)|ошибк\w+",
    # An answer without anything in it
    r"(answer|response|reply|antwort|respuesta|réponse|risposta|antwoord|resposta|odpowiedź|svaret) (\w+ ){0,3}"
    r"(was|is|came back|war|ist|estaba|está|était|est|era|è|foi|była|var|är) (\w+ )?(empty|leer|vac[íi]a|vide|vuota|leeg|vazia|pusta|tomt?)\b",
)
_FAILURE_WITHOUT_BLANKS = re.compile(
    r"できません|ませんでした|ていません|失敗|エラー|失败|无法|未能|没有成功|錯誤|错误|실패|못했"
)
_PROMISE_WITHOUT_BLANKS = re.compile(
    r"(?:します|入れます|加えます|書きます)|马上|稍等|我来|하겠습니다|할게요"
)
_DONE_WITHOUT_BLANKS = re.compile(r"しました|完了|済み|已(?:添加|创建|保存|记录|安排)|(?:추가|등록|저장)했")
_DOUBT = _words(
    r"not (entirely |quite )?(sure|certain)|unsure|uncertain|(don['’]t|do not) know|can['’]?not? (say|tell) (whether|if)",
    r"nicht sicher|unsicher|weiß (ich )?nicht|weiss (ich )?nicht|unklar",
    r"no estoy segur\w|no sé\b|pas (sûr|certain)\w*|(ne )?sais pas|non sono (sicur|cert)\w|non so\b",
    r"niet zeker|weet (ik )?niet|n[ãa]o tenho certeza|n[ãa]o sei\b|nie jestem pew\w+|nie wiem",
)
_PROMISE = _words(
    r"I['’]ll|I will|I['’]m going to|I am going to|let me|I['’]m about to|will do\b|on it\b|right away",
    r"ich werde|werde ich|mache ich (gleich|sofort)|wird (sofort|gleich) erledigt|ich trage .{0,40} (gleich|sofort)|kümmere mich"
    r"|ich (trage|lege|notiere|füge|schreibe|setze|speichere|mache|erledige) (es|das|den|die|ihn|sie|dir)\b",
    r"voy a|ahora (mismo )?(lo|la) |enseguida|\w+(aré|eré|iré)\b|je vais|je m['’]en occupe|tout de suite|j?['’]?\w{3,}erai\b",
    r"sto per|lo faccio subito|subito\b|\w+(erò|irò)\b|ik ga|ik zal|zal ik|meteen|doe ik (meteen|zo)|vou \w+r\b|já (vou|trato)|\w+arei\b",
    r"lo (hago|añado|apunto|agrego|anoto|pongo)\b|j['’]ajoute\b|je (l['’]|le |la )?(ajoute|note|mets|inscris)\b|lo (aggiungo|faccio|metto|inserisco)\b",
    r"ik (zet|voeg|noteer|doe|regel) (het|dat|de|hem)\b|zaraz|już się tym|dodam\b|zapiszę\b|wpiszę\b|zrobię\b",
    r"(jag|jeg) (ska|skal|lägger|lægger|legger|skriver|noterar|noterer|fixar|gör|sätter)\b|strax|straks",
)
_DONE = _words(
    r"done\b|added|adding it is done|saved|created|scheduled|booked|logged|noted|entered|recorded|put (it|them|this|\W?§)|all set|is (now )?(on|in)\b"
    r"|it['’]s (now )?(on|in)\b|has been|have been|set up|all done|it worked|worked\b",
    r"erledigt|eingetragen|hinzugefügt|gespeichert|angelegt|notiert|vermerkt|steht\b|geklappt|fertig|gebucht|ist drin|aufgenommen",
    r"hecho|listo|añadid\w|agregad\w|apuntad\w|guardad\w|cread\w|anotad\w|está (ya )?en|registrad\w|funcionó|ya está",
    r"c['’]est (fait|noté|bon)|ajouté\w*|enregistré\w*|créé\w*|noté\w*|inscrit\w*|est (bien )?(dans|au|sur)\b|fait\b|réussi\b",
    r"fatto|aggiunt\w|salvat\w|creat\w|segnat\w|inserit\w|registrat\w|annotat\w|funzionato",
    r"gedaan|klaar|toegevoegd|opgeslagen|aangemaakt|genoteerd|ingepland|staat\b|gelukt|geregeld",
    r"feito|pronto|adicionad\w|adicionei|salv[oa]\b|criad\w|marcad\w|anotad\w|registrad\w|registad\w|está (na|no|em)\b|funcionou",
    r"gotowe|zrobione|dodan\w|dodał\w+|zapisan\w|utworzon\w|wpisan\w|zadziałał\w",
    r"klart|tillag[dt]|sparad|sparat|inlag[dt]|noterat|bokad|bokat|skapat|lagt (till|in)\b|tilføjet|gemt|oprettet|opprettet|lagret|lagt til\b|ferdig|færdig",
    r"valmis|lisätty|lisäsin|tallennettu|merkitty|hotovo|přidáno|přidal\w*|uloženo|готово|добавлен\w*|сделано",
)
_FIRST_TRY = _words(
    r"(on )?(the |my )?(first|1st|earlier|initial) (try|attempt|time|request|call)|at first|initially",
    r"(erste[rnms]?|beim ersten) (versuch|anlauf|mal)|zuerst|anfangs|zunächst",
    r"(primer|primera) (intento|vez)|al principio|(première|premier) (tentative|essai|fois)|d['’]abord",
    r"prim[oa] (tentativo|volta)|all['’]inizio|eerste (poging|keer)|in eerste instantie",
    r"primeira (tentativa|vez)|no início|pierwsz\w+ (prób\w+|raz\w*)|początkowo",
)
_BUT = _words(
    r"but\b|however|aber\b|jedoch|doch\b|pero\b|mais\b|ma\b|però|maar\b|mas\b|porém|ale\b|jednak\b|nu (är|er)\b|men\b"
)
_ASKS = _words(
    r"I (just |still |only )?need|please (tell|give|let)|tell me|let me know|which\b.*\bor\b",
    r"ich (brauche|benötige)|bitte (sag|nenn|gib)|necesito|dime|j['’]ai besoin|dis-moi|ho bisogno|dimmi|heb .{0,20} nodig",
    r"preciso (de|saber)|diga-me|potrzebuję|powiedz",
)
_OFFERS = _words(
    r"(but )?(if|in case|should you)\b|falls|wenn|sollte|(pero )?si\b|(mais )?si\b|se\b|caso\b|als je|mocht|jeśli|gdyby|om du\b|hvis\b"
)
_OPENERS = """
    sure ok okay of course happy to gladly great thanks thank you certainly alright absolutely yes hi hello good idea
    with pleasure gern gerne klar natürlich ja hallo danke gut claro por supuesto con mucho gusto vale sí hola gracias
    bien sûr d'accord avec plaisir oui bonjour merci certo volentieri va bene sì ciao grazie natuurlijk graag prima hoor
    hoi bedankt com prazer sim olá obrigado obrigada oczywiście jasne chętnie dobrze tak cześć
"""
_POLITE = frozenset(_OPENERS.split())
_END = r".!?\u2026\u3002\uff01\uff1f"
_SENTENCE_END = re.compile(rf"(?<=[{_END}])\s+|\n+|(?<=[\u3002\uff01\uff1f])")
_CLAUSE_END = re.compile(rf"[;:,]\s+|\s[\u2013\u2014-]\s|\u2014|(?<=[{_END}])\s*")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_QUOTES = r"\"\u201c\u201d\u201e\u00ab\u00bb"
_QUOTED = re.compile(
    rf"[{_QUOTES}]([^{_QUOTES}]{{1,80}})[{_QUOTES}]|(?<!\w)['\u2018]([^'\u2018\u2019]{{2,80}})['\u2019](?!\w)"
)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def read(reply: str, titles: Iterable[str] = (), *, tells_facts: bool = False) -> Reading:
    """The stance of a reply. `titles` are taken out first: what a task is called says nothing about the deed."""
    plain = without(reply, titles)
    if not _LETTERS.search(plain):
        return Reading(Stance.STATEMENT if reply.strip() else Stance.NOTHING)
    sentences = [part for part in _SENTENCE_END.split(plain) if part.strip()]
    said = " ".join(part for part in sentences if not _is_question(part))
    clauses = [part for part in _CLAUSE_END.split(said) if part and _LETTERS.search(part)]
    negative = [part for part in clauses if is_failure(part) and not _FIRST_TRY.search(part)]
    done = any(_tells_success(part) for part in clauses)
    if _DOUBT.search(said):
        return Reading(Stance.DOUBT, partly=True, done=done)
    if negative:
        overcome = _overcome(clauses, negative[0], tells_facts=tells_facts)
        return Reading(Stance.STATEMENT if overcome else Stance.FAILURE, partly=True, done=done)
    asks = _is_question(plain.strip()) or any(map(_is_question, sentences)) or bool(_ASKS.search(said))
    if (
        not done
        and asks
        and said.count("§") < 2
        and all(_is_opening(part) or _ASKS.search(part) for part in clauses)
    ):
        return Reading(Stance.QUESTION)
    promises = not done and (_PROMISE.search(said) or _PROMISE_WITHOUT_BLANKS.search(said))
    return Reading(Stance.PROMISE if promises else Stance.STATEMENT, done=done)


def without(reply: str, titles: Iterable[str]) -> str:
    """The reply without the names of things: asked and stored titles, and whatever stands in quotation marks."""
    plain = _NO_ERROR_WITHOUT_BLANKS.sub(" ", _IDIOMS.sub(" ", reply))
    for title in sorted({title for title in titles if len(title) > 2}, key=len, reverse=True):
        plain = re.sub(rf"(?<!\w){re.escape(title)}(?!\w)", "§", plain, flags=re.IGNORECASE)
    return _QUOTED.sub("§", plain)


def says_done(text: str) -> bool:
    """Does it say, in one of the known languages, that something was done?"""
    return any(_tells_success(part) for part in _CLAUSE_END.split(text) if part)


def denials(reply: str, titles: Iterable[str]) -> list[str]:
    """The clauses of a reply that admit a failure, with the names in them; a first try that failed does not count."""
    names = tuple(titles)
    clauses = (part for part in _CLAUSE_END.split(reply) if part and not _is_question(part))
    return [part for part in clauses if is_failure(without(part, names)) and not _FIRST_TRY.search(part)]


def asserted(reply: str) -> str:
    """What a reply states: without its questions and without what it only offers (`if 16:30 suits better …`)."""
    return "\n".join(part for part in clauses_of(reply) if not _OFFERS.match(part.lstrip(" -*•")))


def clauses_of(reply: str) -> list[str]:
    """The sentences of a reply that are no questions."""
    return [part for part in _SENTENCE_END.split(reply) if part.strip() and not _is_question(part)]


def is_failure(clause: str) -> bool:
    return bool(_FAILURE.search(clause) or _FAILURE_WITHOUT_BLANKS.search(clause))


def _tells_success(clause: str) -> bool:
    told = _DONE.search(clause) or _DONE_WITHOUT_BLANKS.search(clause)
    return told is not None and not is_failure(clause)


def _overcome(clauses: list[str], failure: str, *, tells_facts: bool) -> bool:
    """Is the failing clause not the last word: said after the success, or followed by a success with facts or a `but`?"""
    at = clauses.index(failure)
    earlier, later = clauses[:at], clauses[at + 1 :]
    if any(map(_tells_success, earlier)) or (tells_facts and earlier):
        return True
    turned = tells_facts or any(_BUT.search(part) for part in later)
    return turned and any(map(_tells_success, later))


def _is_question(sentence: str) -> bool:
    return sentence.strip().endswith(_QUESTION_MARKS)


def _is_opening(clause: str) -> bool:
    words = [word.lower() for word in _LETTERS.findall(clause)]
    return len(words) <= 4 and all(word in _POLITE for word in words)
