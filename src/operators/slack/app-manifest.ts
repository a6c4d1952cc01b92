// The Slack app of a server, as people create it.

import type { AppsManifestValidateArguments } from '@slack/web-api'

type Manifest = AppsManifestValidateArguments['manifest']

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
    oauth_config: { scopes: { bot: [...botScopes] } },
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

// What the Slack app must be allowed to do. The app manifest asks for it, and `doctor` looks whether it was granted.

const everywhere = ['chat:write', 'commands', 'files:read', 'files:write'] as const
const publicRooms = ['channels:history', 'channels:read'] as const
const privateRooms = ['groups:history', 'groups:read'] as const

/** What the code uses in a room. */
export const neededScopes = (isPrivate: boolean): readonly string[] => [
  ...everywhere,
  ...(isPrivate ? privateRooms : publicRooms),
]

/** All scopes of the bot, for the manifest. `users:read` lets `doctor` look whether the ids of operators are right. */
export const botScopes = [...everywhere, ...publicRooms, ...privateRooms, 'users:read'] as const
