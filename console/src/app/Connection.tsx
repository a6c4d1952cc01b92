import { useLive, useLiveState } from '../data/use-live.tsx'
import { Button } from '../parts/Button.tsx'
import { useNow } from '../parts/Time.tsx'
import styles from './Connection.module.css'

/** Says when the page is no longer up to date, and when it tries again. Silent while all is well. */
export function Connection() {
  const live = useLive()
  const state = useLiveState()
  const now = useNow()
  if (state.status !== 'waiting') return null
  const seconds = Math.max(0, Math.ceil((state.retryAt - now) / 1_000))
  return (
    <div className={styles.bar} role="status">
      <span>
        <strong>Not connected.</strong> What you see may be old, and decisions wait until the server answers.
      </span>
      <Button onClick={live.retryNow}>{seconds > 0 ? `Try now (${seconds} s)` : 'Trying…'}</Button>
    </div>
  )
}
