import type { Passage } from 'quarterdeck/client'
import { isRecord } from '../../../../src/domain/is-record.ts'
import { passageWords } from '../passage-words.ts'

/** A passage that an answer cites. */
export interface Source {
  id: string
  number: number
  /** The tool that found it. */
  tool: string | null
  /** Where it stands, from the file down. */
  name: string
  /** The file does not say it any more. */
  isChanged: boolean
}

export interface Citations {
  sources: readonly Source[]
  /** Cited, and nothing was found under them. */
  notFound: readonly number[]
}

/** What the activity `SOURCES` says. The texts stay behind: whoever wants to read one asks for what the file says now. */
export function readCitations({ sources, not_found }: Record<string, unknown>): Citations {
  return {
    sources: Array.isArray(sources) ? sources.flatMap((one) => sourceOf(one) ?? []) : [],
    notFound: Array.isArray(not_found) ? not_found.filter((one) => typeof one === 'number') : [],
  }
}

function sourceOf(value: unknown): Source | null {
  if (!isRecord(value)) return null
  const { id, number, tool, file, changed } = value
  if (typeof id !== 'string' || typeof number !== 'number' || typeof file !== 'string') return null
  return {
    ...{ id, number, tool: typeof tool === 'string' ? tool : null },
    name: passageWords(value as unknown as Passage),
    isChanged: changed === true,
  }
}
