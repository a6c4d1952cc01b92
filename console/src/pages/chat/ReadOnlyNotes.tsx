import { Link } from 'wouter'
import styles from './Conversation.module.css'

/** In the place of the field, where one can read and not write. */
export function OthersNote({ owner }: { owner: string }) {
  return (
    <p className={styles.note}>
      This chat belongs to <bdi>{owner}</bdi>. You can read it and stop its runs, and only <bdi>{owner}</bdi> can write
      here.
    </p>
  )
}

export function ElsewhereNote({ id }: { id: string }) {
  return (
    <p className={styles.note}>
      An agent works here from elsewhere. <Link href={`/sessions/${id}`}>Steer it on the page of its session</Link>
    </p>
  )
}
