// Who people are where an identity provider or a proxy says it. Complete and checked.

export interface IdentitySettings {
  issuers: readonly IssuerSettings[]
  /** Null: no proxy says who people are. */
  proxy: ProxyAuthSettings | null
}

/** An OpenID Connect provider whose tokens count here. */
export interface IssuerSettings {
  /** Begins the names of its users. */
  name: string
  /** As its tokens have it in `iss`, to the letter. */
  issuer: string
  /** One of them must be in `aud`. */
  audience: readonly string[]
  /** Where its keys are. Null: its discovery document says it. */
  jwksUri: string | null
  /** Never a symmetric one. */
  algorithms: readonly string[]
  clockToleranceSeconds: number
  claims: {
    user: string
    groups: string
    /** Null: roles come from groups alone. */
    role: string | null
  }
  roles: RoleRules
  /** Claims that a token must have, each with one of these values. */
  required: Readonly<Record<string, readonly string[]>>
  /** Its addresses count as verified where its tokens do not say anything about it. */
  assumeVerifiedEmail: boolean
}

/** Which groups, or values of the role claim, give which role. */
export interface RoleRules {
  /** Null: everybody may talk. */
  user: readonly string[] | null
  operator: readonly string[]
  admin: readonly string[]
}

/** A proxy in front of this server that has signed people in. */
export interface ProxyAuthSettings {
  /** Begins the names of its users. */
  name: string
  /** Addresses and networks of the proxy. Headers of everybody else do not count. */
  trusted: readonly string[]
  /** In lower case. */
  headers: { user: string; groups: string; email: string }
  roles: RoleRules
}

/** What a user may use in a day (UTC). Null: no limit. */
export interface DayLimit {
  runs: number | null
  tokens: number | null
  /** In the currency of `prices`. */
  cost: number | null
}

/** An entry that leaves something out says nothing about it. */
export interface DayLimitSettings {
  default: Partial<DayLimit>
  groups: Readonly<Record<string, Partial<DayLimit>>>
  users: Readonly<Record<string, Partial<DayLimit>>>
}
