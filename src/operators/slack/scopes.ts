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
