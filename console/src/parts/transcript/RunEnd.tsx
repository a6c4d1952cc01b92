import type { EndItem } from '../../data/transcript.ts'
import { StopIcon, WarningIcon } from '../icons.ts'
import styles from './RunEnd.module.css'

/** A run that ended without an answer, and why. */
export function RunEnd({ item: { how, message, code } }: { item: EndItem }) {
  return (
    <p className={how === 'failed' ? styles.failed : styles.cancelled}>
      {how === 'failed' ? <WarningIcon aria-hidden="true" /> : <StopIcon aria-hidden="true" />}
      <span>
        <bdi>{message}</bdi> {code !== null && <code>{code}</code>}
      </span>
    </p>
  )
}
