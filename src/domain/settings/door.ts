/** What may be known of a door before its code is loaded. The settings, the page at `/` and the banner read it. */
export interface DeclaredDoor {
  /** The word for it in the setting `protocols`. */
  name: string
  title: string
  /** For the page at `/`: its first route, and what that is. */
  home: readonly [route: string, what: string]
  /**
   * What `serve` prints at its start: addresses, and what to do with them. A text of its own stands below the one before it, the
   * first beside the title.
   */
  banner(at: BannerPlace): readonly (string | readonly [label: string, text: string])[]
}

export interface BannerPlace {
  url: string
  /** How the program is called here. */
  program: string
  /** The flag that leads a command to this server, with a space before it. Empty: it finds the server without. */
  dataDirFlag: string
  /** Somebody can decide. */
  hasOperator: boolean
}
