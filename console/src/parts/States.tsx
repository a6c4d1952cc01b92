// What a page shows when it has nothing to show: nothing there yet, on its way, or failed.

import { ClientError } from 'quarterdeck/client'
import type { ReactNode } from 'react'
import { serverUrl } from '../base.ts'
import { errorText } from '../error-text.ts'
import { Button } from './Button.tsx'
import { RetryIcon } from './icons.ts'
import styles from './States.module.css'

/** Says what would be here, and what makes it. */
export function Empty({ title, children, icon }: { title: string; children?: ReactNode; icon?: ReactNode }) {
  return (
    <div className={styles.empty}>
      {icon !== undefined && <div className={styles.icon}>{icon}</div>}
      <h2>{title}</h2>
      {children !== undefined && <div className={styles.text}>{children}</div>}
    </div>
  )
}

/** A link to the page of docs/do with this name. Every server brings the pages along. */
export function How({ to }: { to: string }) {
  return (
    <a href={`${serverUrl}/docs/do/${to}.md`} target="_blank" rel="noopener">
      How to {to.replaceAll('-', ' ')}
    </a>
  )
}

interface Bones {
  rows?: number
  /** Of a row, or of each card from the top. */
  height?: number | readonly number[]
}

/** Grey rows and cards as high as the real ones. They appear after a moment. */
export function Loading({ rows = 6, height = 56 }: Bones) {
  const heights = typeof height === 'number' ? Array<number>(rows).fill(height) : height
  return (
    <div className={styles.loading} role="status" aria-label="Loading">
      {heights.map((one, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change places
        <div key={i} className={styles.bone} data-shape={shapeOf(one)} style={{ height: one }} />
      ))}
    </div>
  )
}

/** A line of text, a row of a list, or a card. */
const shapeOf = (height: number): string => (height < 40 ? 'line' : height < 96 ? 'row' : 'card')

/** A page whose code is on its way. */
export function LoadingPage({ name }: { name: string }) {
  return (
    <div className={styles.page}>
      <div className={styles.name}>{name}</div>
      <Loading />
    </div>
  )
}

interface PendingProps extends Bones {
  /** What was asked for and is not here yet. */
  query: { error: unknown; refetch: () => unknown }
}

/** In place of an answer: it is on its way, or did not come. */
export function Pending({ query: { error, refetch }, ...bones }: PendingProps) {
  return error === null ? <Loading {...bones} /> : <Failed error={error} onRetry={() => void refetch()} />
}

/** The server's own words, the id to find the request in the log, and a way to try again. */
export function Failed({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof ClientError ? error.problem : null
  return (
    <div className={styles.failed} role="alert">
      <h2>
        {error instanceof ClientError && error.code === 'unreachable'
          ? 'The server does not answer'
          : 'That did not work'}
      </h2>
      <p>{errorText(error)}</p>
      {problem?.correlation_id !== undefined && (
        <p className={styles.id}>
          In the server’s log: <code>{problem.correlation_id}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <Button icon={<RetryIcon />} onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}
