// What the Slack app of a server must be able to do: the manifest from which people create it, and the scopes that `doctor` looks for.

import type { AppsManifestValidateArguments } from '@slack/web-api'

type Manifest = AppsManifestValidateArguments['manifest']

/** What the bot may do, and what it needs that for. Slack grants scopes at the installation of the app. */
export const slackScopes = {
  'chat:write': 'post and update cards',
  commands: 'take /quarterdeck',
  'channels:read': 'see whether it is in a public channel',
  'channels:history': 'read replies in public channels',
  'groups:read': 'see whether it is in a private channel',
  'groups:history': 'read replies in private channels',
  'files:read': 'read a file that somebody attaches to a reply',
  'files:write': 'add a long diff to a thread',
  'users:read': 'check the Slack ids of operators',
} as const

type SlackScope = keyof typeof slackScopes

/** For “From a manifest” at api.slack.com/apps. Nothing in it has an address: Slack calls nobody, the server calls Slack. */
export function slackManifest(): Manifest {
  return {
    display_information: {
      name: 'Quarterdeck',
      description: 'Asks you before AI agents act, and takes your answers.',
      background_color: '#1d2b3a',
    },
    features: {
      bot_user: { display_name: 'quarterdeck', always_online: false },
      slash_commands: [
        {
          command: '/quarterdeck',
          description: 'Command the agents of this channel',
          usage_hint: 'help',
          // Paths and texts come as they were typed.
          should_escape: false,
        },
      ],
    },
    oauth_config: { scopes: { bot: Object.keys(slackScopes) as SlackScope[] } },
    settings: {
      event_subscriptions: { bot_events: ['message.channels', 'message.groups'] },
      interactivity: { is_enabled: true },
      org_deploy_enabled: false,
      socket_mode_enabled: true,
      // A token that changes every 12 hours could not be kept in a keychain that people fill.
      token_rotation_enabled: false,
    },
  }
}
