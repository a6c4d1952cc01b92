import type { TranscriptItem } from '../../data/transcript.ts'
import { createMarkdownSplitter, LONG_MARKDOWN } from '../markdown/split-markdown.ts'

/** A part of a long answer. The same object as long as it says the same. */
export interface Piece {
  text: string
  isFirst: boolean
  isLast: boolean
}

/** A row of a conversation: an item, or a piece of a long answer. The first piece has the key of its item. */
export interface Line {
  key: string
  item: TranscriptItem
  piece: Piece | null
}

/** Answers of any length, of which the page has only the pieces in sight. Make one for each conversation. */
export function createPieces(): (items: readonly TranscriptItem[]) => readonly Line[] {
  const answers = new Map<string, { split: (text: string) => readonly string[]; pieces: readonly Piece[] }>()

  function piecesOf(key: string, text: string): readonly Piece[] {
    const { split, pieces: before } = answers.get(key) ?? { split: createMarkdownSplitter(), pieces: [] }
    const texts = split(text)
    const pieces = texts.map((one, i) => {
      const made = { text: one, isFirst: i === 0, isLast: i === texts.length - 1 }
      const was = before[i]
      return was?.text === made.text && was.isLast === made.isLast ? was : made
    })
    answers.set(key, { split, pieces })
    return pieces
  }

  return (items) =>
    items.flatMap((item): Line[] => {
      const { key } = item
      if (item.type !== 'answer' || item.text.length <= LONG_MARKDOWN) return [{ key, item, piece: null }]
      return piecesOf(key, item.text).map((piece, i) => ({ key: i === 0 ? key : `${key}/${i}`, item, piece }))
    })
}
