import { useLive, useLiveState } from '../data/use-live.tsx'
import { Button } from '../parts/Button.tsx'
import { useNow } from '../parts/use-now.ts'
import styles from './Connection.module.css'

/** Says when the page is no longer up to date, and when it tries again. Silent while all is well. */
export function Connection() {
  const state = useLiveState()
  return state.status === 'waiting' ? <Waiting retryAt={state.retryAt} /> : null
}

function Waiting({ retryAt }: { retryAt: number }) {
  const live = useLive()
  const seconds = Math.max(0, Math.ceil((retryAt - useNow()) / 1_000))
  return (
    <div className={styles.bar} role="status">
      <span>
        <strong>Not connected.</strong> What you see may be old, and decisions wait until the server answers.
      </span>
      <Button onClick={live.retryNow}>{seconds > 0 ? `Try now (${seconds} s)` : 'Trying…'}</Button>
    </div>
  )
}
