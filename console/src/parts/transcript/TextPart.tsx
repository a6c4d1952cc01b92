import type { ReactNode } from 'react'
import { CopyButton } from '../CopyButton.tsx'
import styles from './TextPart.module.css'

interface TextPartProps {
  title: string
  /** Null: there is none. */
  text: string | null
  isBad?: boolean
  /** How the text is shown, or why there is none. */
  children: ReactNode
}

/** What went into a tool or a model, or came back. */
export function TextPart({ title, text, isBad = false, children }: TextPartProps) {
  return (
    <section className={styles.part}>
      <header className={styles.head}>
        <h3>{title}</h3>
        {text !== null && <CopyButton text={text} what={title.toLowerCase()} />}
      </header>
      {text === null ? <p className={styles.empty}>{children}</p> : <TextBox isBad={isBad}>{children}</TextBox>}
    </section>
  )
}

export const TextBox = ({ isBad, children }: { isBad: boolean; children: ReactNode }) => (
  <div className={styles.text} data-bad={isBad || undefined}>
    {children}
  </div>
)
