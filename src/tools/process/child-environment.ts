/** The variables that a child needs to run at all. It gets no keys, tokens or anything else of ours unless the settings name it. */
const KEPT = /^(?:PATH|HOME|LANG|LC_[A-Z]+|TMPDIR|USER|SHELL|TERM|TZ)$/

// On Windows the case of names varies, and many programs do not start without these variables.
const KEPT_ON_WINDOWS =
  /^(?:PATH|PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TEMP|TMP|USERNAME|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|PROGRAMFILES\(X86\)|PROGRAMW6432|PROCESSOR_ARCHITECTURE|NUMBER_OF_PROCESSORS|LANG|TZ)$/i

export function childEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): Record<string, string> {
  const kept = platform === 'win32' ? KEPT_ON_WINDOWS : KEPT
  const theirs: Record<string, string> = {}
  for (const [name, value] of Object.entries(ours)) {
    // A value that begins like this is a bash function, and bash would run it.
    if (value !== undefined && kept.test(name) && !value.startsWith('()')) theirs[name] = value
  }
  return theirs
}
