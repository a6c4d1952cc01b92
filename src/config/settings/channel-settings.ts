// The settings about the ways to reach operators. They have no flags and no variables: where messages go must not come from a `.env`
// that an agent can write.

import { z } from 'zod'
import {
  type ChannelSettings,
  type SlackDetail,
  slackDetails,
  type WebhookSettings,
} from '../../domain/channel-settings.ts'
import { contactAddress, httpUrl, webhookList } from './channel-values.ts'
import { setting } from './setting.ts'
import type { SettingKey, SettingValues } from './settings.ts'

export const channelTable = {
  public_url: setting<string | null>({
    schema: httpUrl().transform((value): string | null => value),
    description: 'Where people open this server in a browser. Links in messages to operators begin with it.',
    expected: 'an http or https address',
    example: 'https://agents.example.com',
    default: null,
    defaultText: 'the address that the server listens on',
    flag: null,
    env: [],
  }),
  'slack.detail': setting<SlackDetail>({
    schema: z.enum(slackDetails),
    description:
      'How much the messages in Slack show. `minimal`: what waits and its risk. `standard`: also the change or the arguments. `verbose`: also what agents begin, end and report.',
    example: 'minimal',
    default: 'standard',
    flag: null,
    env: [],
  }),
  'slack.api_url': setting<string>({
    schema: httpUrl().transform((value) => `${value}/`),
    description: 'Address of the API of Slack. GovSlack has another one.',
    expected: 'an http or https address',
    example: 'https://slack-gov.com/api',
    default: 'https://slack.com/api/',
    flag: null,
    env: [],
  }),
  'ntfy.url': setting<string>({
    schema: httpUrl(),
    description: 'The ntfy server that brings messages to the `ntfy` topics of operators.',
    expected: 'an http or https address',
    example: 'https://ntfy.example.com',
    default: 'https://ntfy.sh',
    flag: null,
    env: [],
  }),
  'web_push.contact': setting<string | null>({
    schema: contactAddress(),
    description: 'Whom the push services of browsers can ask when something is wrong.',
    expected: 'a mailto: or https: address',
    example: 'mailto:ops@example.com',
    default: null,
    defaultText: '`public_url`',
    flag: null,
    env: [],
  }),
  webhooks: setting<WebhookSettings[]>({
    schema: webhookList(),
    description:
      'Addresses that get a signed POST for what waits: a list with `name`, `url` and `kinds` (approval, prompt, wait, stall, session; all if left out). The credential `webhook_secret` signs them.',
    expected: 'a list of webhooks, each with a name and a url',
    example: [{ name: 'pager', url: 'https://example.com/hook', kinds: ['approval'] }],
    default: [],
    defaultText: 'none',
    flag: null,
    env: [],
  }),
}

type Read = <K extends SettingKey>(key: K) => SettingValues[K]

export const assembleChannels = (read: Read): ChannelSettings => ({
  publicUrl: read('public_url'),
  slack: { detail: read('slack.detail'), apiUrl: read('slack.api_url') },
  ntfy: { url: read('ntfy.url') },
  webPush: { contact: read('web_push.contact') },
  webhooks: read('webhooks'),
})
