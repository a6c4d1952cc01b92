import { useState } from 'react'
import { Button } from '../Button.tsx'
import { formatBytes } from '../bytes.ts'
import { BlockView } from './BlockView.tsx'
import styles from './Markdown.module.css'
import { createBlockReader, LONGEST_MARKDOWN } from './read-blocks.ts'

interface MarkdownProps {
  text: string
  /** More will come: a caret stands at the end. */
  isWriting?: boolean
}

/** The words of an agent as React elements: no HTML, no pictures, nothing that is fetched. Only blocks that changed are drawn again. */
export function Markdown({ text, isWriting = false }: MarkdownProps) {
  const [read] = useState(createBlockReader)
  if (text.length > LONGEST_MARKDOWN) return <LongText text={text} />
  const blocks = read(text)
  return (
    <div className={`${styles.markdown} ${isWriting ? styles.writing : ''}`} dir="auto">
      {blocks.map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are added at the end only
        <BlockView key={i} block={block} isOpen={isWriting && i === blocks.length - 1} />
      ))}
      {blocks.length === 0 && isWriting && <p />}
    </div>
  )
}

/** Too long to look for formats in it. The browser needs seconds for a line of a megabyte, so the rest waits for a press. */
export function LongText({ text, first = 20_000 }: { text: string; first?: number }) {
  const [isWhole, setWhole] = useState(false)
  return (
    <div className={styles.markdown} dir="auto">
      <div className={styles.plain}>{isWhole ? text : text.slice(0, first)}</div>
      {!isWhole && text.length > first && (
        <p className={styles.more}>
          <span>
            The first {formatBytes(first)} of {formatBytes(text.length)}.
          </span>
          <Button onClick={() => setWhole(true)}>Show all</Button>
        </p>
      )}
    </div>
  )
}
