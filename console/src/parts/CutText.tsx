import { useState } from 'react'
import { Button } from './Button.tsx'
import { formatBytes } from './bytes.ts'
import styles from './CutText.module.css'
import { ProseText } from './ProseText.tsx'

interface CutTextProps {
  text: string
  /** How many characters are shown at once. */
  first?: number
  isCode?: boolean
}

/** A text as it is, wrapped. A browser needs seconds for a line of a megabyte, so the rest of a long one waits for a press. */
export function CutText({ text, first = 8_000, isCode = false }: CutTextProps) {
  const [isWhole, setWhole] = useState(false)
  const isCut = !isWhole && text.length > first
  return (
    <div className={styles.frame}>
      <div className={isCode ? styles.code : styles.text} dir={isCode ? 'ltr' : 'auto'}>
        <ProseText text={isCut ? text.slice(0, first) : text} />
      </div>
      {isCut && (
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
