// Names of users. A name of this server has no colon. A name of an identity provider begins with the name that the settings give the
// provider: `corp:ada@example.com`. So nobody elsewhere can have the name of a user of this server or of another provider.

/** How the settings may call an identity provider. */
export const PROVIDER_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/

/**
 * How a provider may call a user. Printable ASCII only: with lookalike letters one person could be two. No comma, because proxies join
 * headers with it, and no `*`, which means everybody in our queries.
 */
const REMOTE_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+|/=~:-]{0,127}$/

export const USER_NAME = /^(?:\w{1,64}|[a-z0-9][a-z0-9_-]{0,31}:[A-Za-z0-9][A-Za-z0-9._@+|/=~:-]{0,127})$/

export const USER_NAME_TEXT = '1 to 64 letters, digits or _, or a name of an identity provider such as corp:ada'

/** Null: the provider's name for the user cannot be used here. */
export const remoteUser = (provider: string, name: string): string | null =>
  REMOTE_NAME.test(name) ? `${provider}:${name}` : null

export const isRemoteUser = (user: string): boolean => user.includes(':')
