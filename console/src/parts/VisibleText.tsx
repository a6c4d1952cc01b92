import { Fragment } from 'react'
import { markHidden } from './hidden-marks.ts'
import styles from './VisibleText.module.css'

/** The mark that the server writes for a character that people do not see: `<U+202E>`, `<U+0020×57>`. */
const MARK = /(<U\+[0-9A-F]{4,6}(?:×\d+)?>)/

interface VisibleTextProps {
  text: string
  inline?: boolean
  /** It comes as it was said, without the server's marks. */
  isRaw?: boolean
}

/**
 * Text from an agent, a tool or a file, exactly as it came from the server: wrapped and never cut, with the marks of hidden characters
 * standing out. The text is isolated, so that right-to-left letters in it cannot move what stands around it.
 */
export function VisibleText({ text, inline = false, isRaw = false }: VisibleTextProps) {
  const marked = isRaw ? markHidden(text) : text
  const parts = marked.includes('<U+') ? marked.split(MARK) : [marked]
  const Tag = inline ? 'bdi' : 'div'
  return (
    <Tag className={inline ? styles.inline : styles.block} dir={inline ? undefined : 'auto'}>
      {parts.map((part, i) =>
        i % 2 === 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change places
          <mark key={i} className={styles.mark} title="A character that cannot be seen">
            {part}
          </mark>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change places
          <Fragment key={i}>{part}</Fragment>
        ),
      )}
    </Tag>
  )
}
