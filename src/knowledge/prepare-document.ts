// From the text of a file to what a store keeps of it.

import { canonicalJson, sha256 } from '../json/digest.ts'
import type { NewDocument, NewPassage } from '../store/ports/knowledge.ts'
import { cutPassages, documentText } from './cut/cut-passages.ts'
import type { CutPassage } from './cut/pack.ts'
import type { Prepare } from './update/update-index.ts'
import type { Analyzer } from './words/analyze.ts'
import { languageOf } from './words/language.ts'

/** Of all that decides what passages and terms a file has. A new number has everything cut again. */
export const PREPARED_VERSION = 1

const MOST_COUNTED = 255
/** A language is told by the beginning of a document. */
const SAMPLE_PASSAGES = 12

export function createPrepare(analyzer: Analyzer): Prepare {
  return (extract, file): NewDocument => {
    const passages = cutPassages(extract, file)
    const sample = passages.slice(0, SAMPLE_PASSAGES).map(documentText).join('\n')
    const language = languageOf(sample)
    return { language, passages: passages.map((passage) => newPassage(passage, analyzer, language)) }
  }
}

function newPassage(passage: CutPassage, analyzer: Analyzer, language: string): NewPassage {
  const { text, headings, place, continues } = passage
  const searched = documentText(passage)
  // What a section is called says more of it than what it mentions, so its own heading counts twice.
  const { counts, length } = analyzer.termsOf(`${headings.at(-1) ?? ''}\n${searched}`, language)
  const terms = Uint32Array.from(counts.keys()).sort()
  return {
    id: `p${sha256(canonicalJson([headings, place, text])).slice(0, 24)}`,
    ...{ text, headings, place, continues, terms, length },
    counts: Uint8Array.from(terms, (term) => Math.min(MOST_COUNTED, counts.get(term) ?? 0)),
    digest: sha256(searched),
  }
}
