// What a kind of channel says about itself. Whoever knows several kinds (the settings, credentials, `doctor`, `ctl credential set`, the
// server, the docs) reads the list in `channels.ts`, and names none.

import type { z } from 'zod'
import type { SettingRow } from '../config/settings/setting.ts'
import type { Clock } from '../domain/clock.ts'
import type { SupervisionSettings } from '../domain/settings/supervision-settings.ts'
import type { ChannelParts, OpenedChannels } from './channel-parts.ts'

/** Rows of the table of settings, by their key in quarterdeck.yaml. */
export type SettingRows = Readonly<Record<string, SettingRow>>

/** `Own` is what the server gets of its settings, `Secret` the names of its credentials. */
export interface ChannelKind<Rows extends SettingRows = SettingRows, Own = unknown, Secret extends string = string> {
  /** Its channels are called like this, or `name:` and whom they reach. A person's contact has the same name. */
  readonly name: string
  readonly words: ChannelWords
  /** Their values have plain types: with a named one, all of this folder would be in the types that we publish. */
  readonly settings: Rows
  read(values: RowValues<Rows>): Own
  /** How a person's address is written in `operators`, with its description. Null: people have none here. */
  readonly contact: z.ZodType<string> | null
  readonly credentials: Readonly<Record<Secret, CredentialKind>>
  /** Whether the settings ask for it. If not, no credential is read, and nothing is checked or opened. */
  isUsed(configured: Configured<Own>): boolean
  /** What `doctor` finds besides its credentials. It sends nobody a message, and never shows a credential. */
  check(parts: CheckParts<Own, Secret>): Promise<ChannelCheck[]>
  open(parts: ChannelParts<Own, Secret>): Promise<OpenedChannels>
}

export type RowValues<Rows> = { [K in keyof Rows]: Rows[K] extends SettingRow<infer T> ? T : never }

export interface ChannelWords {
  /** What people call it. */
  title: string
  /** The same for a column of six letters. */
  short: string
  /** Where it is explained, from docs/do/: a page, and a heading if the page is about more. */
  docs: string
  /** What people get there. */
  help: string
  /** Whether they can answer there. */
  answers: string
}

export interface CredentialKind {
  /** The channel cannot work without it. */
  isRequired: boolean
  /** When people have to set it. */
  needed: string
  isRight(value: string): boolean
  /** What the value has to be. */
  expected: string
}

export interface Configured<Own = unknown> {
  settings: Own
  supervision: SupervisionSettings
}

export interface CheckParts<Own = unknown, Secret extends string = string> extends Configured<Own> {
  /** Null: one is missing or cannot be right, and that was said already. */
  credentials: Readonly<Record<Secret, string | null>> | null
  /** How requests leave this machine. */
  outgoing: { fetch: typeof fetch; isProxied(target: URL): boolean }
  /** Rejects for a host name that nobody knows. */
  lookup(host: string): Promise<unknown>
  /** What the server keeps under this name in its config folder; null: nothing. `read` throws when it cannot be used. */
  kept(name: string): { path: string; read(): string | null } | null
  clock: Clock
}

export interface ChannelCheck {
  status: 'ok' | 'warn' | 'fail'
  detail: string
  mend?: string
}

/** Checks a declaration while its types stay as exact as they are written. */
export const channelKind = <Rows extends SettingRows, Own, Secret extends string>(
  kind: ChannelKind<Rows, Own, Secret>,
): ChannelKind<Rows, Own, Secret> => kind
