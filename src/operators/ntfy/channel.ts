import { z } from 'zod'
import { httpUrl } from '../../config/settings/channel-values.ts'
import { setting } from '../../config/settings/setting.ts'
import { key } from '../../config/source/schema-key.ts'
import { channelKind } from '../channel-kind.ts'

export interface NtfySettings {
  /** Address of the ntfy server, without a slash at the end. */
  url: string
}

export const ntfyChannel = channelKind({
  name: 'ntfy',
  words: {
    title: 'ntfy',
    short: 'ntfy',
    docs: '#ntfy',
    help: 'a notification on your phone',
    answers: 'no, it opens the console',
    setUp: 'the `ntfy` topic of an operator',
  },
  settings: {
    'ntfy.url': setting<string>({
      schema: httpUrl(),
      description: 'The ntfy server that brings messages to the `ntfy` topics of operators.',
      expected: 'an http or https address',
      example: 'https://ntfy.example.com',
      default: 'https://ntfy.sh',
      flag: null,
      env: [],
    }),
  },
  read: ({ 'ntfy.url': url }): NtfySettings => ({ url }),
  contact: key(
    z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    'Topic of ntfy that reaches this person. Whoever knows its name can read it, so make it long.',
    'ada-7f3kq9',
    'up to 64 letters, digits, - and _',
  ),
  credentials: {
    ntfy_token: {
      isRequired: false,
      needed: 'if the ntfy server asks for one',
      isRight: (value) => /^tk_[A-Za-z0-9]+$/.test(value),
      expected: 'an access token that begins with tk_',
    },
  },
  isUsed: ({ supervision }) => supervision.operators.some(({ contacts }) => contacts.ntfy !== undefined),
  check: async (parts) => (await import('./check-ntfy.ts')).checkNtfy(parts),
  open: async (parts) => (await import('./create-ntfy.ts')).openNtfy(parts),
})
