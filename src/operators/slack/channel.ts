import { z } from 'zod'
import { httpUrl, slackChannelId, slackUserId } from '../../config/settings/channel-values.ts'
import { fileSetting } from '../../config/settings/setting.ts'
import { key } from '../../config/source/schema-key.ts'
import type { OperatorSettings } from '../../domain/settings/supervision-settings.ts'
import { channelKind } from '../channel-kind.ts'

const slackDetails = ['minimal', 'standard', 'verbose'] as const
export type SlackDetail = (typeof slackDetails)[number]

export interface SlackSettings {
  detail: SlackDetail
  /** Address of Slack's API, with a slash at the end. */
  apiUrl: string
}

export type SlackSecret = 'slack_app_token' | 'slack_bot_token' | 'slack_team_id'

/** An operator, as Slack knows people. */
export interface SlackPerson {
  name: string
  /** Slack's id of the user; null: not in Slack. */
  slack: string | null
  group: string | null
}

export const slackPeople = (operators: readonly OperatorSettings[]): SlackPerson[] =>
  operators.map(({ name, contacts, group }) => ({ name, slack: contacts.slack ?? null, group }))

const TOKENS_NEEDED = 'where `slack.channel_id` or `slack.channels` is set'

export const slackChannel = channelKind({
  name: 'slack',
  words: {
    title: 'Slack',
    short: 'Slack',
    docs: 'answer-from-slack.md',
    help: 'a card with the diff or the arguments, in one thread for each session',
    answers: 'yes',
  },
  settings: {
    // The rooms themselves belong to sessions: `supervision-settings.ts` reads them.
    'slack.channel_id': fileSetting<string | null>({
      schema: slackChannelId().transform((value): string | null => value),
      description: 'Slack channel of sessions that name none.',
      expected: 'the id of a Slack channel, such as C012AB3CD',
      example: 'C012AB3CD',
      default: null,
      defaultText: 'none',
    }),
    'slack.channels': fileSetting<string[]>({
      schema: z.array(slackChannelId()),
      description: 'Further Slack channels that a session may use.',
      expected: 'a list of ids of Slack channels, such as C012AB3CD',
      example: ['C012AB3CD'],
      default: [],
      defaultText: 'none',
    }),
    'slack.detail': fileSetting<SlackDetail>({
      schema: z.enum(slackDetails),
      description:
        'How much the messages in Slack show. `minimal`: what waits and its risk. `standard`: also the change or the arguments. `verbose`: also what agents begin, end and report.',
      example: 'minimal',
      default: 'standard',
    }),
    'slack.api_url': fileSetting<string>({
      schema: httpUrl().transform((value) => `${value}/`),
      description: 'Address of the API of Slack. GovSlack has another one.',
      expected: 'an http or https address',
      example: 'https://slack-gov.com/api',
      default: 'https://slack.com/api/',
    }),
  },
  read: ({ 'slack.detail': detail, 'slack.api_url': apiUrl }): SlackSettings => ({ detail, apiUrl }),
  contact: key(slackUserId(), 'Slack user who answers as this operator.', 'U012AB3CD'),
  credentials: {
    slack_app_token: {
      isRequired: true,
      needed: TOKENS_NEEDED,
      isRight: (value) => /^xapp-[\w-]+$/.test(value),
      expected: 'a token that begins with xapp-',
    },
    slack_bot_token: {
      isRequired: true,
      needed: TOKENS_NEEDED,
      isRight: (value) => /^xoxb-[\w-]+$/.test(value),
      expected: 'a token that begins with xoxb-',
    },
    slack_team_id: {
      isRequired: false,
      needed: 'never; with it, tokens of another workspace are refused',
      isRight: (value) => /^T[A-Z0-9]+$/.test(value),
      expected: 'an id that begins with T',
    },
  },
  isUsed: ({ supervision }) => supervision.slack.channels.length > 0,
  check: async (parts) => (await import('./check-slack.ts')).checkSlackApp(parts),
  open: async (parts) => (await import('./open-slack-chat.ts')).openSlackChat(parts),
})
