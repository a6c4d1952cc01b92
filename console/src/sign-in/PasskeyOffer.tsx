import { useState } from 'react'
import { Link } from 'wouter'
import { siteStorage } from '../browser-storage.ts'
import { useMe } from '../data/me.ts'
import { IconButton } from '../parts/Button.tsx'
import { CloseIcon, PasskeyIcon } from '../parts/icons.ts'
import styles from './PasskeyOffer.module.css'
import { hasPasskeys } from './passkey.ts'

const DISMISSED = 'quarterdeck.no-passkey-offer'

/** One line for people on a server without passkeys, until they do not want to see it any more. `isAside`: a phone needs the space for something else. */
export function PasskeyOffer({ isAside = false }: { isAside?: boolean }) {
  const [isDismissed, setDismissed] = useState(() => siteStorage.getItem(DISMISSED) !== null)
  const { data } = useMe()
  if (isDismissed || !hasPasskeys() || data === undefined || !data.passkeys.possible || data.passkeys.registered > 0)
    return null
  function dismiss(): void {
    siteStorage.setItem(DISMISSED, '1')
    setDismissed(true)
    // The focus was in what goes now.
    document.querySelector<HTMLElement>('main h1')?.focus()
  }
  return (
    <div className={styles.offer} data-aside={isAside || undefined}>
      <PasskeyIcon aria-hidden="true" />
      <p>
        A program on this machine that reads your token can approve in your name.{' '}
        <Link href="/settings/passkeys">Add a passkey</Link>, and it cannot.
      </p>
      <IconButton label="Do not show this again" icon={<CloseIcon />} onClick={dismiss} />
    </div>
  )
}
