import { useState } from 'react'
import { BlockView } from './BlockView.tsx'
import styles from './Markdown.module.css'
import { createBlockReader } from './read-blocks.ts'

interface MarkdownProps {
  text: string
  /** More will come: a caret stands at the end. */
  isWriting?: boolean
}

/** The words of an agent as React elements: no HTML, no pictures, nothing that is fetched. Only blocks that changed are drawn again. */
export function Markdown({ text, isWriting = false }: MarkdownProps) {
  const [read] = useState(createBlockReader)
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
