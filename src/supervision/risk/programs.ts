// What the programs do that agents run, as data. What is not listed is high: nobody knows what it does. Programs that run others, or whose
// words say more than a line can, have a judge as well: see `judge-program.ts`.

import { ANY_VALUE, DOWNLOADS, NOT_CLEAR, REACHES, SHOWS_ENVIRONMENT } from './reasons.ts'
import { RISKS, type WorkRisk } from './risk.ts'

export interface Rule {
  risk: WorkRisk
  /** After the agent's name. */
  why: string
  /** What its words are used for. `names`: only whether and where files are. `text`: no paths at all. */
  words: 'read' | 'write' | 'names' | 'text'
  /** So many words at the start are text, such as a pattern. */
  texts: number
  /** Options that make it do something else: letters of short ones, names of long ones. Then it is high. */
  not: readonly string[]
  /** Options that make it write to its words. */
  writes: readonly string[]
  /** Options that are followed by a value. */
  valued: readonly string[]
  /** Options that are followed by a text. */
  worded: readonly string[]
  /** Further words of a remembered beginning, after program and verb: the script or the file. */
  more: number
  /** 1: program and verb say enough of it to be remembered, even though it is high. */
  byVerb: number
  /** What a yes does. The words go to `{}`, joined with a slash to `{/}`; without words it is what stands in the braces. */
  action: string | null
}

/** A risk and a sentence, then the programs; `git: status log` are verbs of git. After `;` comes what is special: see `Rule`. */
const TABLE = `
none reads files of the workspace
  cat head tail wc nl tac cut comm cmp diff column fold paste md5sum sha1sum sha256sum shasum cksum strings od hexdump sed uniq iconv csvstat
  sort; writes o --output; not T --compress-program --temporary-directory --files0-from
  jq awk gawk mawk; texts 1; valued -F -v
none searches the workspace
  grep egrep fgrep; texts 1
  rg; texts 1; not z --pre --hostname-bin --search-zip
none lists files of the workspace
  ls stat du realpath readlink find; words names
  fd; words names; not x X --exec --exec-batch
  tree; words names; not o R --output --fromfile
  file; words names; not f m M C --files-from --magic-file --compile
none tests a condition
  test [ ; words names; not v
none prints a text
  echo basename dirname seq expr true false tr exit return break continue shift sleep wait :; words text
  printf; words text; not v
none asks the machine for a fact
  pwd whoami id uname arch nproc type which read unset; words text
  date; words text; not s f r --set --file --reference
none reads the repository
  git: status diff log show blame describe rev-parse rev-list ls-files ls-tree cat-file shortlog name-rev merge-base diff-tree; not GIT
  git: diff-index for-each-ref show-ref check-ignore count-objects whatchanged cherry range-diff version; not GIT
  git: grep; not GIT --untracked --no-exclude-standard; texts 1
  git stash: list show; not GIT
  git worktree: list
  git remote: get-url; words text
  git: tag; words text; not d f u F --delete --force --file; worded -m --message
  git: branch remote; words text; not d D m M c C f u --delete --move --copy --force --set-upstream-to --unset-upstream --edit-description
  git: reflog; words text
none lists packages
  npm: ls list why explain root prefix
  pnpm: ls list why
  yarn: list why
  pip: list show freeze; not o u i f --outdated --uptodate --index-url --extra-index-url --find-links --log --proxy --python
  cargo: tree metadata; not Z --config
  go: list; not u export compiled toolexec mod modfile overlay --export --compiled --toolexec --mod --modfile --overlay
  go: version doc
  go: env; words text; not w u
  go mod: why graph; words text
  npm pkg: get

low runs a build, a test or a check of the workspace; words read
  npm: test t start; not NPM; valued NPM
  pnpm: test t start build lint format typecheck check dev; not NPM; valued NPM
  yarn: test build lint format typecheck check start dev; not NPM; valued NPM
  bun: test
  npm: run run-script; not NPM; valued NPM; more 1
  pnpm: run; not NPM; valued NPM; more 1
  yarn: run; not NPM; valued NPM; more 1
  bun: run; not e p r --eval --print --preload; more 1
  turbo: run; more 1
  cargo: build test check fmt clippy doc bench run nextest fix package; not Z --config
  go: build test vet fmt run generate; not exec toolexec vettool --exec --toolexec --vettool
  pytest py.test; not --pastebin --basetemp
  mypy; not --install-types --python-executable
  tsc vue-tsc vitest jest mocha ava pyright flake8 pylint shellcheck rspec
  make gmake; valued -C -f -j; not E --eval; more 1
  just; not c f d --command --shell --shell-arg --set --choose --chooser --edit --working-directory --justfile; more 1
  go: clean; not cache modcache fuzzcache
  go tool: cover
  mvn: test compile verify package
  gradle: test build check assemble
  dotnet: build test format
  swift: build test
  mix: test compile format
  playwright: test
  deno: test check fmt lint
  vite: build
  next: build lint
  nx: test build lint
  astro: check build
  rake: test spec
  alembic: check current heads history
low formats or checks files of the workspace
  black isort rustfmt
  ruff: format
  prettier eslint stylelint oxlint gofmt goimports clang-format markdownlint markdownlint-cli2; words read; writes w i --write --fix
  ruff: check; words read; writes --fix
  biome: check format lint ci; words read; writes --write --fix --apply
  golangci-lint: run; words read; writes --fix
  staticcheck cspell vale; words read
  deadcode; words read; writes --fix
low writes files of the workspace
  touch mkdir tee strip
low copies or moves files of the workspace
  cp mv
low prepares a commit
  git: add; words read; not f e i p --force --edit --interactive --patch
  git: mv
low commits
  git: commit; words read; not n c C t --amend --no-verify --reset-author --fixup --squash; worded -m -am --message; valued --author --date
low changes branches
  git: switch checkout; words text; not f C B p m --force --force-create --discard-changes --patch --merge --ours --theirs --orphan --pathspec-from-file
low puts changes aside
  git: stash; words read; not a --all; worded -m --message
  git stash: push save pop apply; words read; not a --all; worded -m --message
low packs the package into a file
  npm: pack; not NPM
low changes the version of the package
  npm: version; words read; not NPM; valued NPM
low unstages changes
  git: reset; words read; not --hard --merge --keep
low looks at the machine
  ps df free uptime lsof; words text; not E
  history; words text; not a c d n p r s w
low reads a database of the workspace
  sqlite3; texts 9

high pushes to a remote
  git: push; words text; not --receive-pack --exec --no-verify; action Push to {/the remote}
high reaches the network; words read
  git: pull clone submodule lfs; action Run git over the network
  ssh scp sftp ftp rsync nc ncat netcat socat telnet ping dig nslookup host gh glab aws gcloud az kubectl helm docker podman docker-compose
  terraform tofu pulumi ansible vercel netlify fly flyctl heroku wrangler firebase supabase psql mysql redis-cli mongosh openssl
high asks a service on the network; words read; byVerb 1
  git: fetch ls-remote; not --upload-pack --exec
  npm: view info outdated search ping; not NPM
  npm: audit; not NPM
  pnpm: outdated view; not NPM
  cargo: search info
  gh pr: view checks list diff status
  gh run: view list watch
  gh issue: view list
  gh release: view list
high opens a pull request; words read; byVerb 1; action Open a pull request
  gh pr: create; not R --repo; worded -t -b --title --body
high downloads or sends over the network; words read
  curl wget aria2c http https xh lynx; action Download {a file}
high installs packages; words read; action Install {packages}
  npm: install i in ci add update up upgrade link dedupe rebuild; not NPM
  pnpm: install i add update up link import dlx; not NPM
  yarn: install add up upgrade dlx link
  bun: install i add update x
  pip: install download
  pip3: install download
  uv pip: install sync
  uv: add sync tool lock
  poetry: install add update lock
  cargo: install add update
  go: get install
  bundle: install update add
  composer: install update require
  playwright: install
high installs packages; words read; action Install packages
  yarn
  npm audit: fix
  go: mod
  pipx apt apt-get brew yum dnf pacman apk snap port conda mamba gem corepack nvm rustup asdf mise tox nox
high removes packages; words read; action Remove {packages}
  npm: uninstall remove rm un prune
  pnpm: remove rm
  yarn: remove
  bun: remove
  pip: uninstall
  pip3: uninstall
  uv: remove
  cargo: remove uninstall
high publishes; action Publish {the package}
  npm: publish unpublish deprecate dist-tag owner access login adduser token logout
  pnpm: publish
  yarn: publish npm
  cargo: publish yank login owner
  twine: upload
  poetry: publish
  uv: publish
high deletes files; action Delete {files}
  rm rmdir unlink shred trash
  git: rm
high deletes files that git does not know; action Delete files that git does not know
  git: clean
high throws work away; action Throw changes away
  git: restore
  git stash: drop clear
high rewrites the history of the repository; words text
  git: rebase cherry-pick revert am replace notes gc prune
high merges branches; words text; action Merge {a branch}
  git: merge
high changes files in ways that are not shown
  git: apply
  patch tar zip unzip gzip gunzip bzip2 xz 7z cpio dd
high runs another program
  env cross-env xargs npx bunx pnpx concurrently dotenv dotenvx env-cmd start-server-and-test
high cuts files off
  truncate
high makes a link
  ln
high changes permissions; action Change permissions of {files}
  chmod chown chgrp chattr setfacl umask
high ends or starts processes; words text
  kill pkill killall disown bg fg setsid screen tmux pm2 forever
high gives a name another meaning; words text
  alias unalias enable shopt bind complete hash
high shows the environment, which can hold secrets; words text
  printenv
high changes settings of git; words text
  git: config

critical runs as another user; words read; action Run as root
  sudo su doas pkexec runas sudoedit
critical rewrites the history of the repository; words text; action Rewrite the history
  git: filter-branch filter-repo update-ref
  git reflog: expire delete
  git-filter-repo bfg
critical changes what package managers run; words text
  npm: pkg config set set-script c get
  pnpm: config pkg
  yarn: config set plugin
critical makes programs run later
  crontab at batch systemctl launchctl service systemd-run schtasks
critical changes the machine
  mkfs fdisk parted mount umount shutdown reboot halt poweroff init insmod modprobe iptables sysctl useradd usermod passwd visudo chroot
critical works on the server that asks; words text
  quarterdeck
`

const SHARED: Record<string, string> = {
  'not GIT':
    'O --output --ext-diff --textconv --filters --no-index --open-files-in-pager --exec --upload-pack --stdin --batch --batch-check --batch-command',
  'not NPM':
    'g c --global --script-shell --shell --node-options --userconfig --globalconfig --registry --call --git --editor',
  'valued NPM': '-w --workspace --prefix --filter -F --cwd --dir',
}

const words = (text: string): string[] => text.split(' ').filter(Boolean)

function withSettings(rule: Rule, settings: readonly string[]): Rule {
  const changed: Record<string, unknown> = { ...rule }
  for (const setting of settings) {
    const key = setting.split(' ')[0] ?? ''
    const value = setting.slice(key.length + 1).replace(/^[A-Z]+\b/, (name) => SHARED[`${key} ${name}`] ?? name)
    changed[key] = Array.isArray(changed[key]) ? words(value) : typeof changed[key] === 'number' ? Number(value) : value
  }
  return changed as unknown as Rule
}

function readTable(table: string): Map<string, Rule> {
  const rules = new Map<string, Rule>()
  const lists = { not: [], writes: [], valued: [], worded: [] }
  let block: Rule = { risk: 'high', why: '', words: 'write', texts: 0, more: 0, byVerb: 0, action: null, ...lists }
  for (const line of table.split('\n').filter((one) => one !== '')) {
    const [first = '', ...settings] = line.trim().split('; ')
    const risk = RISKS.find((one) => line.startsWith(`${one} `))
    if (risk !== undefined) {
      const why = first.slice(risk.length + 1)
      const use = risk === 'none' ? 'read' : 'write'
      block = withSettings({ risk, why, words: use, texts: 0, more: 0, byVerb: 0, action: null, ...lists }, settings)
      continue
    }
    const [, program = '', names = ''] = /^(?:([\w -]+): )?(.*)$/.exec(first) ?? []
    for (const name of words(names)) rules.set(`${program} ${name}`.trim(), withSettings(block, settings))
  }
  return rules
}

export const PROGRAMS: ReadonlyMap<string, Rule> = readTable(TABLE)

/** Programs with verbs, with the options that may stand before one. Another verb is not known. */
export const WITH_VERBS: ReadonlyMap<string, readonly string[]> = [...PROGRAMS].reduce((found, [name, { valued }]) => {
  const [program = '', verb] = name.split(' ')
  return verb === undefined ? found : found.set(program, [...(found.get(program) ?? []), ...valued])
}, new Map<string, readonly string[]>())

/** Programs that read code from a text, a file or their input. */
export const SHELLS: ReadonlySet<string> = new Set(words('sh bash zsh dash ksh mksh ash fish csh tcsh rbash'))
/** The same, with the options that only say how a file is run. Every other option may be code. */
export const INTERPRETERS: ReadonlyMap<string, RegExp> = new Map([
  ...words('ruby perl php lua rscript julia tsx ts-node bun').map((name) => [name, /^$/] as const),
  ...words('python python3 python2 pypy3').map((name) => [name, /^-[uBOsEIqv]+$/] as const),
  ...words('node nodejs').map(
    (name) =>
      [
        name,
        /^--(?:test|watch|check|enable-source|no-warn|trace-|max-old|experimental-(?:strip|test))[\w=*./-]*$/,
      ] as const,
  ),
])
/** What `python -m` may run: programs of the table, and modules that check. */
export const MODULES: ReadonlySet<string> = new Set(words('pytest mypy ruff black isort flake8 pylint'))
export const CHECKS: ReadonlySet<string> = new Set(words('unittest compileall py_compile json.tool doctest'))

interface Wrapper {
  /** Options that change nothing about what runs. */
  plain: RegExp
  /** Options that are followed by a value. */
  valued?: readonly string[]
  /** Words before the program. */
  words?: number
}
/** Programs that run what follows. */
export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  command: { plain: /^-p$/ },
  builtin: { plain: /^$/ },
  exec: { plain: /^-[cl]+$/ },
  nohup: { plain: /^$/ },
  busybox: { plain: /^$/ },
  time: { plain: /^-[plv]+$/ },
  nice: { plain: /^-n?-?\d+$/, valued: ['-n'] },
  stdbuf: { plain: /^-[ioe][L0]$/, valued: ['-i', '-o', '-e'] },
  timeout: {
    plain: /^(?:-[ks]\w+|--(?:foreground|preserve-status|kill-after=\w+|signal=\w+))$/,
    valued: ['-k', '-s'],
    words: 1,
  },
  'perf stat': { plain: /^-[dv]+$/, valued: ['-e', '-r'] },
  'uv run': { plain: /^--(?:frozen|no-sync|offline|locked)$/ },
  'poetry run': { plain: /^$/ },
  'pipenv run': { plain: /^$/ },
  'bundle exec': { plain: /^$/ },
}

/** Variables that only say how to print or to test. Every other one that a program gets may make it run something else. */
export const HARMLESS_VARIABLES =
  /^(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR|CLICOLOR|DEBUG|VERBOSE|LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|TZ|LANG|LC_\w+|PORT|COLUMNS|LINES|TERM|PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED|PYTHONHASHSEED|CGO_ENABLED|GOOS|GOARCH|RAILS_ENV|RACK_ENV|APP_ENV|MIX_ENV|VITEST_\w+)$/
/** Settings of other variables that keep a program from asking or from paging. */
export const HARMLESS_SETTINGS =
  /^(?:(?:GIT_)?PAGER=cat|(?:GIT_)?EDITOR=(?:true|:)|GIT_TERMINAL_PROMPT=0|PYTHONPATH=(?:\.|src)|RUSTFLAGS="?-(?:C target-cpu=native|D warnings)"?)$/
/** Variables that the shell or programs obey, even if nobody exports them again. */
export const OBEYED_VARIABLES =
  /^(?:PATH|PWD|OLDPWD|CDPATH|HOME|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|PS\d|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|BROWSER|TMPDIR|CLASSPATH|\w*_(?:OPTIONS|OPTS|PRELOAD|PATH|COMMAND|ARGS|PROXY|CONFIG|FLAGS|HOME|SHELL|ENV)|(?:BASH|LD|DYLD|GIT|NODE|NPM|npm|PYTHON|PERL|RUBY|JAVA|GO|CARGO|RUST|MAKE|ZSH|ZDOTDIR|SSH|DOCKER|AWS|PIP|UV)_?\w*|\w+_proxy)$/

/** Programs of the shell that may set any variable. */
export const SETS_VARIABLES: ReadonlySet<string> = new Set(
  words(
    'read eval source . mapfile readarray getopts let declare typeset local readonly export printf trap wait unset',
  ),
)

/** Options that name a file or a folder to write to. */
export const OUTPUTS = /out|report|xml|coverage|profile|log|dest|^-o$/i

/** Folders with results that a build makes again. */
export const BUILD_RESULTS =
  /^(?:node_modules|dist|build|out|coverage|target|tmp|temp|\.cache|\.next|\.turbo|\.vite|\.parcel-cache|\.nyc_output|__pycache__|\.\w+_cache|\.tox|test-results|playwright-report)$/
/** Names of scripts and targets that do more than build. */
export const REACHING_SCRIPT = /publish|deploy|release|upload|push|install|migrate|reset|drop|delete|login/i
/** What one of them prints was never in a file that somebody could read here. */
export const SOURCES_OF_CODE: ReadonlySet<string> = new Set(
  words(
    'curl wget aria2c http https xh lynx fetch gh nc ncat netcat socat ssh scp base64 base32 basenc xxd openssl uudecode rev tr zcat gunzip gzip gpg od',
  ),
)
/** Keys of git's settings with which git runs something or sends it elsewhere. */
export const OBEYED_GIT_SETTINGS =
  /hook|alias|credential|pager|editor|ssh|proxy|filter|command|helper|exec|url|include|fsmonitor|program|cmd|textconv|external|askpass|attributes/i

/** Whether it is written here what a program of this name does. */
export const isKnown = (name: string): boolean =>
  [PROGRAMS, WITH_VERBS, SHELLS, INTERPRETERS].some((all) => all.has(name)) || Object.hasOwn(WRAPPERS, name)

const telltale = (programs: string, word: RegExp, why: string) => ({ programs: words(programs), word, why })
/** Words with which a program does more than its line says, wherever they stand. Then it is high. */
export const TELLTALES = [
  telltale('make gmake just mvn gradle rake turbo nx', REACHING_SCRIPT, REACHES),
  telltale('mvn gradle rake turbo nx', /:/, REACHES),
  telltale('go', /@/, DOWNLOADS),
  telltale('jq', /\benv\b|\$ENV\b/, SHOWS_ENVIRONMENT),
  telltale('jq', /\b(?:import|include)\b|^-L/, NOT_CLEAR),
  // `@x`: what it does stands in a file.
  telltale('strip', /^@/, NOT_CLEAR),
  // `ps eww`, unlike `ps -e`.
  telltale('ps', /^[a-zA-Z]*e/, SHOWS_ENVIRONMENT),
  telltale('read', OBEYED_VARIABLES, 'sets variables that programs obey'),
  // The index of a variable is evaluated, and may run something.
  telltale('test [ printf read unset', /\[.*(?:\$\(|`)/s, ANY_VALUE),
]
