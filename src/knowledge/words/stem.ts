// The stem of a word in its language. Accents go before the stem is taken, so that it does not matter who types them; the rules of some
// languages need a few of them back. Cyrillic and Greek are not typed without theirs.

import { stemmer as danish } from '@orama/stemmers/danish'
import { stemmer as dutch } from '@orama/stemmers/dutch'
import { stemmer as english } from '@orama/stemmers/english'
import { stemmer as finnish } from '@orama/stemmers/finnish'
import { stemmer as french } from '@orama/stemmers/french'
import { stemmer as german } from '@orama/stemmers/german'
import { stemmer as greek } from '@orama/stemmers/greek'
import { stemmer as hungarian } from '@orama/stemmers/hungarian'
import { stemmer as italian } from '@orama/stemmers/italian'
import { stemmer as norwegian } from '@orama/stemmers/norwegian'
import { stemmer as portuguese } from '@orama/stemmers/portuguese'
import { stemmer as romanian } from '@orama/stemmers/romanian'
import { stemmer as russian } from '@orama/stemmers/russian'
import { stemmer as spanish } from '@orama/stemmers/spanish'
import { stemmer as swedish } from '@orama/stemmers/swedish'
import { stemmer as turkish } from '@orama/stemmers/turkish'
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian'
import { foldWord } from '../../domain/session/search-words.ts'

type Stem = (word: string) => string

const folding =
  (stem: Stem): Stem =>
  (word) =>
    stem(foldWord(word))

const stems: Readonly<Record<string, Stem>> = {
  en: folding(english),
  // `Kündigung`, `Kuendigung` and `Kundigung` are one word. In `neue`, `Frauen` and `Quelle` the `ue` is none.
  de: folding((word) => german(word.replace(/([ao])e/g, '$1').replace(/(?<![aeq])ue/g, 'u'))),
  fr: folding((word) => french(word.replace(/ees?$/, 'e'))),
  es: folding((word) => spanish(word.replace(/cion$/, 'ción'))),
  it: folding(italian),
  pt: folding((word) => portuguese(word.replace(/(?:cao|coes)$/, 'ção'))),
  // `huis, huizen`, `brief, brieven`, `optie, opties`.
  nl: folding((word) => dutch(word.replace(/ies$/, 'ie')).replace(/z$/, 's').replace(/v$/, 'f')),
  sv: folding(swedish),
  da: folding(danish),
  no: folding(norwegian),
  fi: folding(finnish),
  hu: folding(hungarian),
  ro: folding(romanian),
  tr: folding(turkish),
  el: (word) => foldWord(greek(word)),
  ru: (word) => foldWord(russian(word)),
  uk: (word) => foldWord(ukrainian(word)),
}

/** The stem of a word in lower case. In a language without stems, the word without accents. */
export const stemOf = (word: string, language: string): string => (stems[language] ?? foldWord)(word)
