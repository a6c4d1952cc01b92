import type { ComponentType } from 'react'
import { Link, useLocation } from 'wouter'
import { useKeyRegistry, useKeys } from '../../app/Keys.tsx'
import { setTheme, type Theme, useTheme } from '../../app/theme.ts'
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
} from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty } from '../../parts/States.tsx'
import { AboutPart } from './AboutPart.tsx'
import { Choice, Switch } from './Choice.tsx'
import { ChannelsPart } from './channels/ChannelsPart.tsx'
import { DevicesPart } from './devices/DevicesPart.tsx'
import { GrantsPart } from './grants/GrantsPart.tsx'
import { KeysPart } from './keys/KeysPart.tsx'
import { PasskeysPart } from './passkeys/PasskeysPart.tsx'
import { PushPart } from './push/PushPart.tsx'
import { Section } from './Section.tsx'
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

/** The list, the router and the keys read this. */
const settingsParts: readonly { id: string; name: string; icon: ComponentType; part: ComponentType }[] = [
  { id: 'devices', name: 'Devices', icon: DeviceIcon, part: DevicesPart },
  { id: 'passkeys', name: 'Passkeys', icon: PasskeyIcon, part: PasskeysPart },
  { id: 'push', name: 'Notifications', icon: AlertIcon, part: PushPart },
  { id: 'grants', name: 'Grants', icon: ApprovalIcon, part: GrantsPart },
  { id: 'channels', name: 'Channels', icon: ChannelIcon, part: ChannelsPart },
  { id: 'keys', name: 'Keys', icon: KeyIcon, part: KeysPart },
  { id: 'theme', name: 'Theme', icon: ThemeIcon, part: ThemePart },
  { id: 'keyboard', name: 'Keyboard', icon: KeyboardIcon, part: KeyboardPart },
  { id: 'about', name: 'About', icon: AboutIcon, part: AboutPart },
]

function KeyboardPart() {
  const { areLettersOn, setLettersOn } = useKeyRegistry()
  return (
    <Section
      title="Keyboard"
      about={
        <>
          For this browser. <kbd>?</kbd> shows the keys of a page, if single letters are on.
        </>
      }
    >
      <Switch
        name="Single letters are keys"
        about="Switch them off if your software types by voice, or if you press keys by accident. Keys with Ctrl or ⌘ stay."
        isOn={areLettersOn}
        onChange={setLettersOn}
      />
    </Section>
  )
}

const themes: readonly { value: Theme; name: string; about: string }[] = [
  { value: 'system', name: 'System', about: 'Light or dark, as this device is.' },
  { value: 'light', name: 'Light', about: 'Always light.' },
  { value: 'dark', name: 'Dark', about: 'Always dark.' },
]

function ThemePart() {
  const theme = useTheme()
  return (
    <Section
      title="Theme"
      about={
        <>
          For this browser. <kbd>t</kbd> switches between light and dark on every page.
        </>
      }
    >
      <Choice label="Theme" choices={themes} value={theme} onChange={setTheme} />
    </Section>
  )
}
