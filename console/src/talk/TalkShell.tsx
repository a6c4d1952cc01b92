import { lazy, type ReactNode, Suspense, useState } from 'react'
import { Connection } from '../app/Connection.tsx'
import { useKeys } from '../app/Keys.tsx'
import { flipTheme } from '../app/theme.ts'
import { Announcer } from '../parts/Announcer.tsx'
import styles from './TalkShell.module.css'

const KeysHelp = lazy(() => import('../app/KeysHelp.tsx'))

/** What stands around every page. */
export function TalkShell({ children }: { children: ReactNode }) {
  const [hasHelp, setHelp] = useState(false)
  useKeys([
    { keys: '?', name: 'Show all keys', group: 'Everywhere', run: () => setHelp(true) },
    { keys: 't', name: 'Switch between light and dark', group: 'Everywhere', run: flipTheme },
  ])
  return (
    <div className={styles.shell}>
      <Connection />
      <main className={styles.main}>{children}</main>
      <Suspense>{hasHelp && <KeysHelp onClose={() => setHelp(false)} />}</Suspense>
      <Announcer />
    </div>
  )
}
