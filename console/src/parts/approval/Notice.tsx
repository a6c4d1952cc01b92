import type { ReactNode } from 'react'
import { DoneIcon, WarningIcon } from '../icons.ts'
import { VisibleText } from '../VisibleText.tsx'
import styles from './Notice.module.css'

/** Something that one must not overlook, in a coloured frame. */
export function Notice({ tone, children }: { tone: 'warn' | 'bad' | 'good' | 'neutral'; children: ReactNode }) {
  return (
    <div className={`${styles.notice} ${styles[tone]}`}>
      {tone === 'good' || tone === 'neutral' ? <DoneIcon aria-hidden="true" /> : <WarningIcon aria-hidden="true" />}
      <div className={styles.text}>{children}</div>
    </div>
  )
}

/** What speaks against it. Nothing if nothing does. */
export function Warnings({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return null
  return (
    <Notice tone="warn">
      {texts.map((text) => (
        <p key={text}>
          <VisibleText text={text} inline />
        </p>
      ))}
    </Notice>
  )
}
