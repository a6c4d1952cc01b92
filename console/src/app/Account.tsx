import { Link } from 'wouter'
import { useMe } from '../data/me.ts'
import { IconButton } from '../parts/Button.tsx'
import { SignOutIcon } from '../parts/icons.ts'
import { BY_PROXY, currentToken, signOut } from '../sign-in/device-token.ts'
import styles from './Account.module.css'

/** Who is signed in, what they may do, and the way out. Whoever signed in at a proxy signs out there. */
export default function Account() {
  const { data: me } = useMe()
  if (me === undefined) return null
  const role = me.admin ? 'Admin' : 'Operator'
  return (
    <div className={styles.account}>
      <Link href="/settings/about" className={styles.who} title={`Signed in as ${me.user}, ${role}`}>
        <span className={styles.letter} aria-hidden="true">
          {[...me.user][0]?.toUpperCase()}
        </span>
        <span className={styles.words}>
          <span className="unseen">Signed in as </span>
          <bdi>{me.user}</bdi>
          <span className={styles.role}>{role}</span>
        </span>
      </Link>
      {currentToken() !== BY_PROXY && (
        <IconButton label="Sign out" icon={<SignOutIcon />} onClick={() => void signOut('asked')} />
      )}
    </div>
  )
}
