// The parts of the settings, once: the list, the router and the keys read this.

import type { ComponentType } from 'react'
import {
  AboutIcon,
  AlertIcon,
  ApprovalIcon,
  ChannelIcon,
  DeviceIcon,
  KeyboardIcon,
  KeyIcon,
  PasskeyIcon,
  ThemeIcon,
} from '../../parts/icons.ts'
import { AboutPart } from './AboutPart.tsx'
import { ChannelsPart } from './channels/ChannelsPart.tsx'
import { DevicesPart } from './devices/DevicesPart.tsx'
import { GrantsPart } from './grants/GrantsPart.tsx'
import { KeyboardPart } from './KeyboardPart.tsx'
import { KeysPart } from './keys/KeysPart.tsx'
import { PasskeysPart } from './passkeys/PasskeysPart.tsx'
import { PushPart } from './push/PushPart.tsx'
import { ThemePart } from './ThemePart.tsx'

export interface SettingsPart {
  id: string
  name: string
  icon: ComponentType
  part: ComponentType
}

export const settingsParts: readonly SettingsPart[] = [
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
