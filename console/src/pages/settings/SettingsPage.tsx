import { Link, useLocation } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import { BackLink } from '../../parts/BackLink.tsx'
import { ClosedIcon } from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty } from '../../parts/States.tsx'
import styles from './SettingsPage.module.css'
import { settingsParts } from './settings-parts.ts'

/** A list of parts beside the open one. A phone shows the list, then the part. */
export default function SettingsPage({ part }: { part: string | null }) {
  const [, go] = useLocation()
  const shown = part ?? settingsParts[0]?.id
  const at = settingsParts.findIndex(({ id }) => id === shown)
  const open = settingsParts[at]
  useTitle(open === undefined || part === null ? 'Settings' : `${open.name} · Settings`)
  function move(step: 1 | -1): void {
    const next = settingsParts[at + step]
    if (next !== undefined) go(`/settings/${next.id}`)
  }
  useKeys([
    { keys: 'j', name: 'Next part', group: 'Settings', run: () => move(1) },
    { keys: 'k', name: 'Previous part', group: 'Settings', run: () => move(-1) },
    ...(part === null ? [] : [{ keys: 'Escape', name: 'Back', group: 'Settings', run: () => go('/settings') }]),
  ])
  return (
    <Page
      title={
        <>
          {part !== null && <BackLink href="/settings" name="Back to all settings" isNarrow />}
          Settings
        </>
      }
    >
      <div className={styles.settings} data-open={part === null ? undefined : ''}>
        <nav className={styles.list} aria-label="Settings">
          {settingsParts.map(({ id, name, icon: Icon }) => (
            <Link
              key={id}
              href={`/settings/${id}`}
              className={styles.link}
              aria-current={id === part ? 'page' : undefined}
              data-shown={id === shown || undefined}
            >
              <Icon />
              <span>{name}</span>
              <ClosedIcon className={styles.arrow} aria-hidden="true" />
            </Link>
          ))}
        </nav>
        <div className={styles.part}>
          {open === undefined ? (
            <Empty title="There is no such setting">Choose one from the list.</Empty>
          ) : (
            <open.part key={part ?? ''} />
          )}
        </div>
      </div>
    </Page>
  )
}
