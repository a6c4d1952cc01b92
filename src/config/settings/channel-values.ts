// Schemas for the values of the settings about the ways to reach operators.

import { z } from 'zod'
import {
  type NotifyKind,
  type NotifySettings,
  notifyKinds,
  type QuietHours,
} from '../../domain/settings/channel-settings.ts'
import { duration, key, oneOrMore } from '../source/schema-key.ts'

/** Without a name, a password, a query or a fragment. The server gets it without a slash at the end. */
export const httpUrl = () =>
  z
    .string()
    .refine(isHttpUrl, { error: '' })
    .transform((value) => value.replace(/\/+$/, ''))

/** The row of a setting that is such an address, or nothing. */
export const webAddress = () => ({ schema: httpUrl(), expected: 'an http or https address', default: null })

export function isHttpUrl(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}

export const contactAddress = () =>
  z
    .string()
    .refine((value) => /^mailto:[^\s@]+@[^\s@]+$/.test(value) || (isHttpUrl(value) && value.startsWith('https:')), {
      error: '',
    })
    .transform((value): string | null => value)

export const kindList = () => oneOrMore(z.enum(notifyKinds)).transform((list): NotifyKind[] => [...new Set(list)])

export const KINDS_TEXT = `a list of ${notifyKinds.join(', ')}`

const slackId = (pattern: RegExp, expected: string) => z.string().regex(pattern).meta({ expected })

export const slackUserId = () => slackId(/^[UW][A-Z0-9]{1,30}$/, 'the id of a Slack user, such as U012AB3CD')
export const slackChannelId = () => slackId(/^[CGD][A-Z0-9]{1,30}$/, 'the id of a Slack channel, such as C012AB3CD')

const HOURS = /^([01]\d|2[0-3]):([0-5]\d) ?- ?([01]\d|2[0-3]):([0-5]\d)$/

/** How one operator is told. */
export const notify = () =>
  z.strictObject({
    kinds: key(
      kindList(),
      'What this person is told about; all but session if left out.',
      ['approval'],
      KINDS_TEXT,
    ).optional(),
    quiet_hours: key(
      z.string().regex(HOURS),
      'Hours in which only critical things are told; the rest follows after them.',
      '22:00-07:00',
      'hours such as 22:00-07:00',
    ).optional(),
    time_zone: key(
      z.string().refine(isTimeZone, { error: '' }),
      'Time zone of the quiet hours; that of this machine if left out.',
      'Europe/Berlin',
      'a time zone such as Europe/Berlin',
    ).optional(),
    digest: duration('What comes within this time is told together.', '15m').optional(),
  })

export function notifySettings(given: z.output<ReturnType<typeof notify>> | undefined): NotifySettings {
  const { kinds, quiet_hours: hours, time_zone: timeZone, digest } = given ?? {}
  return {
    kinds: kinds ?? notifyKinds.filter((kind) => kind !== 'session'),
    quietHours: hours === undefined ? null : quietHours(hours, timeZone),
    digestMs: digest === undefined ? null : digest * 1000,
  }
}

function quietHours(text: string, timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone): QuietHours {
  const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = (HOURS.exec(text) ?? []).slice(1).map(Number)
  return { from: fromHour * 60 + fromMinute, to: toHour * 60 + toMinute, timeZone }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
