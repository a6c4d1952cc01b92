import { Fragment, type MouseEvent, type ReactNode, useContext, useEffect, useMemo } from 'react'
import { CITATION } from '../../../../src/domain/session/source.ts'
import { Notice } from '../approval/Notice.tsx'
import { Badge } from '../Badge.tsx'
import { ProseText } from '../ProseText.tsx'
import { type Citations, readCitations, type Source } from './citations.ts'
import { OpenSourceContext } from './conversation.ts'
import styles from './Sources.module.css'

interface SourcesProps {
  /** Of the activity. */
  content: Record<string, unknown>
  /** The end of the answer is here, and the cards below it. */
  hasCards: boolean
  /** Says how the words of the answer are drawn: with links. */
  onWords: (set: () => (text: string) => ReactNode) => void
}

/** What an answer cites: each number in it and each card below it opens a passage. */
export default function Sources({ content, hasCards, onWords }: SourcesProps) {
  const citations = useMemo(() => readCitations(content), [content])
  const open = useContext(OpenSourceContext)
  useEffect(
    () => onWords(() => (text) => <CitingWords text={text} citations={citations} onOpen={open} />),
    [citations, open, onWords],
  )
  return hasCards && <SourceCards citations={citations} onOpen={open} />
}

interface CitingProps {
  citations: Citations
  onOpen: (source: Source) => void
}

export function SourceCards({ citations: { sources, notFound }, onOpen }: CitingProps) {
  return (
    <>
      {sources.length > 0 && (
        <ul className={styles.cards} aria-label="Sources">
          {sources.map((source) => (
            <li key={source.number}>
              <button type="button" className={styles.card} title={source.name} onClick={() => onOpen(source)}>
                <span className={styles.number}>[{source.number}]</span>
                <bdi className={styles.name}>
                  <ProseText text={source.name} />
                </bdi>
                {source.isChanged && <Badge tone="warn">Changed since</Badge>}
              </button>
            </li>
          ))}
        </ul>
      )}
      {notFound.length > 0 && (
        <Notice tone="warn">
          <p>
            The answer cites {notFound.map((number) => `[${number}]`).join(', ')}, but nothing was found under{' '}
            {notFound.length === 1 ? 'this number' : 'these numbers'}.
          </p>
        </Notice>
      )}
    </>
  )
}

/** Words of an answer, in which `[3]` leads to its source. */
export function CitingWords({ text, citations, onOpen }: CitingProps & { text: string }) {
  if (!text.includes('[')) return <ProseText text={text} />
  return piecesOf(text).map(({ words, number }, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces never change places
    <Fragment key={i}>
      {number === null ? <ProseText text={words} /> : <Mention {...{ words, number, citations, onOpen }} />}
    </Fragment>
  ))
}

function Mention({ words, number, citations, onOpen }: CitingProps & { words: string; number: number }) {
  const source = citations.sources.find((one) => one.number === number)
  if (source === undefined) {
    if (!citations.notFound.includes(number)) return <ProseText text={words} />
    return (
      <mark className={styles.notFound} title="Nothing was found under this number">
        {words}
      </mark>
    )
  }
  const press = (event: MouseEvent) => {
    event.preventDefault()
    onOpen(source)
  }
  const name = `Source [${number}]: ${source.name}`
  return (
    <a href={`#source-${number}`} title={source.name} aria-label={name} onClick={press}>
      {words}
    </a>
  )
}

interface Words {
  words: string
  /** Null: these cite nothing. */
  number: number | null
}

/** Put together, the words are the text. `[3, 4]` is `[3`, `, ` and `4]`. */
function piecesOf(text: string): Words[] {
  const pieces: Words[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(CITATION)) {
    if (index > end) pieces.push({ words: text.slice(end, index), number: null })
    for (const words of found.split(/(\[?\d+\]?)/)) {
      const digits = /\d+/.exec(words)
      if (words !== '') pieces.push({ words, number: digits === null ? null : Number(digits[0]) })
    }
    end = index + found.length
  }
  if (end < text.length) pieces.push({ words: text.slice(end), number: null })
  return pieces
}
