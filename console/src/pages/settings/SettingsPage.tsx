import type { ComponentType } from 'react'
import { Link, useLocation } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { type SettingsSection, settingsSections } from '../../app/settings-sections.ts'
import { useTitle } from '../../app/title.ts'
import { BackLink } from '../../parts/BackLink.tsx'
import {
  AboutIcon,
  AlertIcon,
  ApprovalIcon,
  ChannelIcon,
  ClosedIcon,
  DeviceIcon,
  KeyboardIcon,
  KeyIcon,
  PasskeyIcon,
  ThemeIcon,
  ThinkIcon,
} from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty } from '../../parts/States.tsx'
import { AboutPart } from './AboutPart.tsx'
import { ChannelsPart } from './channels/ChannelsPart.tsx'
import { DevicesPart } from './devices/DevicesPart.tsx'
import { GrantsPart } from './grants/GrantsPart.tsx'
import { KeysPart } from './keys/KeysPart.tsx'
import { KeyboardPart, ThemePart } from './look-parts.tsx'
import { MemoriesPart } from './memories/MemoriesPart.tsx'
import { PasskeysPart } from './passkeys/PasskeysPart.tsx'
import { PushPart } from './push/PushPart.tsx'
import styles from './SettingsPage.module.css'

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

const parts: Readonly<Record<SettingsSection, { icon: ComponentType; part: ComponentType }>> = {
  devices: { icon: DeviceIcon, part: DevicesPart },
  passkeys: { icon: PasskeyIcon, part: PasskeysPart },
  push: { icon: AlertIcon, part: PushPart },
  grants: { icon: ApprovalIcon, part: GrantsPart },
  memories: { icon: ThinkIcon, part: MemoriesPart },
  channels: { icon: ChannelIcon, part: ChannelsPart },
  keys: { icon: KeyIcon, part: KeysPart },
  theme: { icon: ThemeIcon, part: ThemePart },
  keyboard: { icon: KeyboardIcon, part: KeyboardPart },
  about: { icon: AboutIcon, part: AboutPart },
}
/** The list, the router and the keys read this. */
const settingsParts = settingsSections.map((section) => ({ ...section, ...parts[section.id] }))
