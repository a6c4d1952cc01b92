// The pages of the console, once: the navigation, the palette and the keys read this list.

import type { ComponentType } from 'react'
import {
  AgentIcon,
  AuditIcon,
  ChatIcon,
  HealthIcon,
  InboxIcon,
  ScheduleIcon,
  SessionsIcon,
  SettingsIcon,
  UsageIcon,
} from '../parts/icons.ts'

export interface PageEntry {
  name: string
  /** Path below the console. */
  path: string
  /** Goes there after `g`. */
  key: string
  icon: ComponentType
  /** Has a tab at the bottom of a phone. The others are behind "More". */
  isMain: boolean
}

export const pages: readonly PageEntry[] = [
  { name: 'Inbox', path: '/inbox', key: 'i', icon: InboxIcon, isMain: true },
  { name: 'Chat', path: '/chat', key: 'c', icon: ChatIcon, isMain: true },
  { name: 'Sessions', path: '/sessions', key: 's', icon: SessionsIcon, isMain: true },
  { name: 'Agents', path: '/agents', key: 'a', icon: AgentIcon, isMain: false },
  { name: 'Schedules', path: '/schedules', key: 'd', icon: ScheduleIcon, isMain: false },
  { name: 'Usage', path: '/usage', key: 'u', icon: UsageIcon, isMain: false },
  { name: 'Health', path: '/health', key: 'h', icon: HealthIcon, isMain: false },
  { name: 'Audit', path: '/audit', key: 'l', icon: AuditIcon, isMain: false },
  { name: 'Settings', path: '/settings', key: 'o', icon: SettingsIcon, isMain: false },
]
