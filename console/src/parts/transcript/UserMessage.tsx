import { type ReactNode, Suspense } from 'react'
import type { MessageFile } from '../../data/transcript.ts'
import { CutText } from '../CutText.tsx'
import { lazyPart } from '../lazy-part.tsx'
import { Loading } from '../States.tsx'
import styles from './UserMessage.module.css'

const MessageFiles = lazyPart(() => import('./MessageFiles.tsx'))

interface UserMessageProps {
  text: string
  files: readonly MessageFile[]
  /** Below the message: that it is on its way, or what went wrong. */
  children?: ReactNode
  isPale?: boolean
}

/** What a person wrote, as they wrote it. */
export function UserMessage({ text, files, children, isPale = false }: UserMessageProps) {
  return (
    <section className={styles.message}>
      <h2 className="unseen">Message</h2>
      {text !== '' && (
        <div className={`${styles.bubble} ${isPale ? styles.pale : ''}`}>
          <CutText text={text} />
        </div>
      )}
      {files.length > 0 && (
        <Suspense fallback={<Loading rows={1} height={40} />}>
          <MessageFiles files={files} />
        </Suspense>
      )}
      {children}
    </section>
  )
}
