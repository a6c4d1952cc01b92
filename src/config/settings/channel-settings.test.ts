import { describe, expect, test } from 'vitest'
import { notifyKinds } from '../../domain/settings/channel-settings.ts'
import { ConfigError, formatIssue } from '../config-error.ts'
import { resolveSettings } from './resolve-settings.ts'

const read = (text: string) =>
  resolveSettings({ flags: {}, file: { path: '/etc/q/quarterdeck.yaml', text }, env: {}, onTerminal: false }).settings

function issuesOf(text: string): string[] {
  try {
    read(text)
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map(formatIssue)
    throw error
  }
  return []
}

describe('the settings about channels', () => {
  test('are complete', () => {
    const { channels } = read(`
public_url: https://agents.example.com/
slack: { detail: verbose, api_url: http://127.0.0.1:9/api }
ntfy: { url: https://ntfy.example.com }
web_push: { contact: "mailto:ops@example.com" }
webhooks:
  - { name: pager, url: "https://example.com/hook?team=1", kinds: approval }
  - { name: all, url: "https://example.com/all" }
`)
    expect(channels).toEqual({
      publicUrl: 'https://agents.example.com',
      own: {
        slack: { detail: 'verbose', apiUrl: 'http://127.0.0.1:9/api/' },
        ntfy: { url: 'https://ntfy.example.com' },
        push: { contact: 'mailto:ops@example.com' },
        webhook: [
          { name: 'pager', url: 'https://example.com/hook?team=1', kinds: ['approval'] },
          { name: 'all', url: 'https://example.com/all', kinds: [...notifyKinds] },
        ],
        bell: null,
      },
    })
  })

  test('have defaults', () => {
    expect(read('port: 0').channels).toEqual({
      publicUrl: null,
      own: {
        slack: { detail: 'standard', apiUrl: 'https://slack.com/api/' },
        ntfy: { url: 'https://ntfy.sh' },
        push: { contact: null },
        webhook: [],
        bell: null,
      },
    })
  })

  test('say how each operator is told', () => {
    const { operators } = read(`
operators:
  - name: ada
    slack: U012AB3CD
    ntfy: ada-7f3kq9
    notify: { kinds: [approval, stall], quiet_hours: 22:00-07:30, time_zone: Europe/Berlin, digest: 15m }
  - name: ben
  - { name: cem, contacts: { slack: U056IJ7KL, ntfy: cem-k2m8zq4tpa } }
`).supervision
    expect(operators.map(({ contacts }) => contacts)[2]).toEqual({ slack: 'U056IJ7KL', ntfy: 'cem-k2m8zq4tpa' })
    expect(operators.slice(0, 2).map(({ contacts, notify }) => ({ contacts, notify }))).toEqual([
      {
        contacts: { slack: 'U012AB3CD', ntfy: 'ada-7f3kq9' },
        notify: {
          kinds: ['approval', 'stall'],
          quietHours: { from: 1320, to: 450, timeZone: 'Europe/Berlin' },
          digestMs: 900_000,
        },
      },
      { contacts: {}, notify: { kinds: ['approval', 'prompt', 'wait', 'stall'], quietHours: null, digestMs: null } },
    ])
  })

  test.each([
    ['public_url: https://ada:secret@example.com', 'public_url'],
    ['public_url: ftp://example.com', 'public_url'],
    ['slack: { detail: loud }', 'slack.detail'],
    ['web_push: { contact: ops@example.com }', 'web_push.contact'],
    ['operators: [{ name: ada, slack: U1 }, { name: ben, contacts: { slack: U1 } }]', 'operators[1].slack'],
    ['webhooks: [{ name: a, url: "file:///etc/passwd" }]', 'webhooks[0].url'],
    ['webhooks: [{ name: a, url: "https://x.y" }, { name: a, url: "https://x.z" }]', 'webhooks[1].name'],
    ['operators: [{ name: ada, notify: { quiet_hours: "10pm-7am" } }]', 'operators[0].notify.quiet_hours'],
    ['operators: [{ name: ada, notify: { time_zone: Mars/Base } }]', 'operators[0].notify.time_zone'],
    ['operators: [{ name: a, ntfy: t }, { name: b, ntfy: t }]', 'operators[1].ntfy'],
  ])('refuse %s', (text, path) => {
    expect(issuesOf(text).join('\n')).toContain(path)
  })
})
