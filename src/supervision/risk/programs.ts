// What the programs do that agents run, as data. A line is: the risk, the end of the sentence "The agent …", the programs with their
// verbs (`git stash list|show` is two of them), and what is special. What is not listed here is high: nobody knows what it does.
// Programs that run others, or whose words say more than a line can, have a function in `judge-program.ts` as well.

import type { WorkRisk } from './risk.ts'

export interface Rule {
  risk: WorkRisk
  why: string
  /** What its words are used for, besides options. `names`: only whether and where files are. `text`: no paths at all. */
  words: 'read' | 'write' | 'names' | 'text'
  /** So many words at the start are text, such as a pattern. */
  texts: number
  /** Options that make it do something else: letters of short ones, names of long ones. Then it is high. */
  not: readonly string[]
  /** Options that are followed by a value, before the verb and among the words. */
  valued: readonly string[]
  /** Options that are followed by a text. */
  worded: readonly string[]
  /** Further words of a remembered beginning, after program and verb: the script or the file. */
  more: number
  /** What a yes does. `{}` is where the words go, `{/}` joins them with a slash. */
  action: string | null
}

const split = (text: string): string[] => text.split(' ').filter(Boolean)

/** `'git stash list|show'` → `git stash list`, `git stash show`. */
const alternatives = (names: string): string[] => {
  const words = split(names)
  return (words.pop() ?? '').split('|').map((last) => [...words, last].join(' '))
}

type More = Partial<Omit<Rule, 'risk' | 'why' | 'not' | 'valued' | 'worded'>> & {
  not?: string
  valued?: string
  worded?: string
}

const line = (risk: WorkRisk, why: string, names: readonly string[], more: More = {}): [string, Rule][] => {
  const { not = '', valued = '', worded = '', ...rest } = more
  const rule: Rule = {
    risk,
    why,
    words: risk === 'none' ? 'read' : 'write',
    texts: 0,
    more: 0,
    action: null,
    ...rest,
    not: split(not),
    valued: split(valued),
    worded: split(worded),
  }
  return names.flatMap(alternatives).map((name) => [name, rule])
}

const NPM = {
  not: 'g c --global --script-shell --shell --node-options --userconfig --globalconfig --registry --call --git --editor',
  valued: '-w --workspace --prefix --filter -F --cwd --dir',
  words: 'read',
} as const
const GIT = 'reads the repository'
const GIT_NOT = '--output --ext-diff --textconv --filters --no-index --open-files-in-pager --exec --upload-pack O'
const BUILD = 'runs a build, a test or a check of the workspace'

export const PROGRAMS: ReadonlyMap<string, Rule> = new Map([
  // Reading.
  ...line(
    'none',
    'reads files of the workspace',
    [
      'cat|head|wc|nl|tac|cut|uniq|comm|cmp|diff|column|fold|paste|md5sum|sha1sum|sha256sum|shasum|cksum|strings|od|hexdump',
    ],
    { not: 'o --output' },
  ),
  ...line('none', 'reads files of the workspace', ['sort'], {
    not: 'o T --output --compress-program --temporary-directory',
  }),
  ...line('none', 'reads files of the workspace', ['tail', 'sed']),
  ...line('none', 'reads files of the workspace', ['jq'], { texts: 1 }),
  ...line('none', 'searches the workspace', ['grep|egrep|fgrep'], { texts: 1 }),
  ...line('none', 'searches the workspace', ['rg'], {
    texts: 1,
    not: 'z --pre --hostname-bin --search-zip',
  }),
  ...line('none', 'lists files of the workspace', ['ls|tree|file|stat|du|realpath|readlink'], {
    words: 'names',
    not: 'o C --output --compile',
  }),
  ...line('none', 'looks for files of the workspace', ['find|fd'], { words: 'names', not: 'x X --exec --exec-batch' }),
  ...line('none', 'tests a condition', ['test|[', '[['], { words: 'names', not: 'v' }),
  ...line(
    'none',
    'prints a text',
    ['echo|basename|dirname|seq|expr|true|false|:|yes|tr|exit|return|break|continue|shift|sleep|wait'],
    {
      words: 'text',
    },
  ),
  ...line('none', 'prints a text', ['printf'], { words: 'text', not: 'v' }),
  ...line('none', 'says where it is', ['pwd|whoami|id|uname|arch|nproc|type|which|hash|date|hostname|read|unset'], {
    words: 'text',
    not: 's a --set',
  }),
  ...line('none', 'reads files of the workspace', ['awk|gawk|mawk'], {
    texts: 1,
    valued: '-F -v',
    not: 'f i l e E --file',
  }),
  ...line(
    'none',
    GIT,
    [
      'git status|diff|log|show|blame|describe|rev-parse|rev-list|ls-files|ls-tree|cat-file|shortlog|name-rev|merge-base',
      'git diff-tree|diff-index|for-each-ref|show-ref|check-ignore|count-objects|whatchanged|cherry|range-diff|version|grep',
      'git stash list|show',
      'git worktree list',
      'git remote get-url',
      'git reflog show',
    ],
    { not: GIT_NOT },
  ),
  ...line('none', GIT, ['git branch|tag|remote|reflog'], {
    words: 'text',
    not: 'd D m M c C f u --delete --move --copy --force --set-upstream-to --unset-upstream --edit-description',
    valued: '--contains --merged --no-merged --sort --format --points-at -n',
  }),
  ...line(
    'none',
    'lists packages',
    [
      'npm ls|list|why|explain|root|prefix',
      'pnpm ls|list|why',
      'yarn list|why',
      'pip list|show|freeze',
      'cargo tree|metadata',
      'go list|version',
    ],
    { ...NPM, not: 'g --global' },
  ),

  // Work inside the workspace.
  ...line(
    'low',
    BUILD,
    ['npm test|t|start', 'pnpm test|t|start', 'yarn test|build|lint|format|typecheck|check|start|dev', 'bun test'],
    NPM,
  ),
  ...line('low', BUILD, ['npm run|run-script', 'pnpm run', 'yarn run', 'bun run'], { ...NPM, more: 1 }),
  ...line('low', BUILD, ['cargo build|test|check|fmt|clippy|doc|bench|run|nextest'], {
    words: 'read',
    not: 'Z --config',
  }),
  ...line('low', BUILD, ['go build|test|vet|fmt|run|generate'], {
    words: 'read',
    not: 'exec toolexec vettool --exec --toolexec',
  }),
  ...line(
    'low',
    BUILD,
    ['pytest|py.test|tox|nox|tsc|vue-tsc|vitest|jest|mocha|ava|mypy|pyright|flake8|pylint|shellcheck|rspec'],
    { words: 'read' },
  ),
  ...line('low', BUILD, ['make|gmake|ninja|just|task'], {
    words: 'read',
    valued: '-C -f -j',
    not: 'E --eval',
    more: 1,
  }),
  ...line(
    'low',
    BUILD,
    [
      'mvn test|compile|verify|package',
      'gradle test|build|check|assemble',
      'gradlew test|build|check|assemble',
      'dotnet build|test|format',
      'swift build|test',
      'mix test|compile|format',
      'playwright test',
      'deno test|check|fmt|lint',
      'vite build',
      'next build|lint',
      'turbo run',
      'nx test|build|lint',
      'astro check|build',
      'rake test|spec',
      'cmake',
      'ctest',
    ],
    { words: 'read' },
  ),
  ...line('low', 'formats or checks files of the workspace', [
    'prettier|black|isort|gofmt|rustfmt|clang-format',
    'ruff check|format',
    'biome check|format|lint|ci',
    'eslint',
    'stylelint',
    'oxlint',
  ]),
  ...line('low', 'writes files of the workspace', ['touch|mkdir|tee|cp|mv']),
  ...line('low', 'prepares a commit', ['git add|mv'], { not: 'f e i p --force --edit --interactive --patch' }),
  ...line('low', 'commits', ['git commit'], {
    not: 'n --amend --no-verify --reset-author --fixup --squash',
    worded: '-m -am --message -ma -sm',
    valued: '--author --date',
  }),
  ...line('low', 'changes branches', ['git switch|checkout'], {
    words: 'text',
    not: 'f C B p m --force --discard-changes --patch --merge --ours --theirs --orphan --pathspec-from-file',
  }),
  ...line('low', 'puts changes aside', ['git stash', 'git stash push|save|pop|apply'], { worded: '-m --message' }),
  ...line('low', 'unstages changes', ['git reset'], { not: '--hard --merge --keep' }),
  ...line('low', 'looks at the machine', ['ps|df|free|uptime|lsof|top'], { words: 'text', not: 'E e' }),
  ...line('low', 'runs a program of the workspace', ['source|.'], { words: 'read', more: 1 }),

  // What leaves the workspace.
  ...line('high', 'pushes to a remote', ['git push'], { words: 'text', action: 'Push to {/}' }),
  ...line('high', 'reaches the network', ['git fetch|pull|clone|ls-remote|submodule|lfs'], {
    action: 'Run git over the network',
  }),
  ...line('high', 'downloads or sends over the network', ['curl|wget|aria2c|http|https|xh|lynx'], {
    words: 'read',
    action: 'Download {}',
  }),
  ...line(
    'high',
    'reaches the network',
    [
      'ssh|scp|sftp|ftp|rsync|nc|ncat|netcat|socat|telnet|ping|dig|nslookup|host|gh|glab|aws|gcloud|az|kubectl|helm|docker|podman',
      'docker-compose|terraform|tofu|pulumi|ansible|vercel|netlify|fly|flyctl|heroku|wrangler|firebase|supabase|psql|mysql|redis-cli',
      'mongosh|sqlcmd|openssl',
      'npm view|info|outdated|audit|search|ping|doctor',
    ],
    { words: 'read' },
  ),
  ...line(
    'high',
    'installs packages',
    [
      'npm install|i|in|ci|add|update|up|upgrade|uninstall|remove|rm|un|link|dedupe|rebuild|prune',
      'pnpm install|i|add|update|up|remove|rm|link|import|dlx',
      'yarn install|add|up|upgrade|remove|dlx|link',
      'bun install|i|add|update|remove|x',
      'pip install|uninstall|download',
      'pip3 install|uninstall|download',
      'pipx|apt|apt-get|brew|yum|dnf|pacman|apk|snap|port|conda|mamba|gem|corepack|nvm|rustup|asdf|mise',
      'uv pip|add|sync|remove|tool|lock',
      'poetry install|add|update|remove|lock',
      'cargo install|add|update|remove|uninstall',
      'go get|install|mod',
      'bundle install|update|add',
      'composer install|update|require|remove',
      'playwright install',
    ],
    { words: 'read', action: 'Install {}' },
  ),
  ...line('high', 'installs packages', ['yarn'], { action: 'Install packages' }),
  ...line(
    'high',
    'publishes',
    [
      'npm publish|unpublish|deprecate|dist-tag|owner|access|login|adduser|token|logout|version|star',
      'pnpm publish',
      'yarn publish|npm',
      'cargo publish|yank|login|owner',
      'twine upload',
      'poetry publish',
      'uv publish',
      'gem push',
    ],
    { action: 'Publish {}' },
  ),
  ...line('high', 'deletes files', ['rm|rmdir|unlink|shred|trash', 'git rm'], { action: 'Delete {}' }),
  ...line('high', 'cuts files off', ['truncate'], { action: 'Cut off {}' }),
  ...line('high', 'deletes files that git does not know', ['git clean'], {
    action: 'Delete files that git does not know',
  }),
  ...line('high', 'throws work away', ['git restore', 'git stash drop|clear'], { action: 'Throw changes away' }),
  ...line(
    'high',
    'rewrites the history of the repository',
    ['git rebase|cherry-pick|revert|am|replace|notes|gc|prune'],
    { words: 'text' },
  ),
  ...line('high', 'merges branches', ['git merge'], { words: 'text', action: 'Merge {}' }),
  ...line('high', 'changes files in ways that are not shown', [
    'git apply',
    'patch',
    'tar|zip|unzip|gzip|gunzip|bzip2|xz|7z|cpio',
  ]),
  ...line('high', 'makes a link', ['ln']),
  ...line('high', 'changes permissions', ['chmod|chown|chgrp|chattr|setfacl|umask'], {
    action: 'Change permissions of {}',
  }),
  ...line('high', 'ends or starts processes', ['kill|pkill|killall|disown|bg|fg|setsid|screen|tmux|pm2|forever'], {
    words: 'text',
  }),
  ...line('high', 'gives a name another meaning', ['alias|unalias|enable|shopt|bind|complete|function'], {
    words: 'text',
  }),
  ...line('high', 'shows the environment, which can hold secrets', ['printenv'], { words: 'text' }),
  ...line('high', 'changes settings of git', ['git config'], { words: 'text' }),
  ...line('high', 'copies data as it is', ['dd']),

  // What always needs a second look.
  ...line('critical', 'runs as another user', ['sudo|su|doas|pkexec|runas|sudoedit'], {
    words: 'read',
    action: 'Run as root',
  }),
  ...line(
    'critical',
    'rewrites the history of the repository',
    ['git filter-branch|filter-repo|update-ref', 'git reflog expire|delete', 'git-filter-repo|bfg'],
    { words: 'text', action: 'Rewrite the history' },
  ),
  ...line(
    'critical',
    'changes what package managers run',
    ['npm pkg|config|set|set-script|c|get', 'pnpm config|pkg', 'yarn config|set|plugin'],
    { words: 'text' },
  ),
  ...line('critical', 'makes programs run later', [
    'crontab|at|batch|systemctl|launchctl|service|systemd-run|schtasks',
  ]),
  ...line('critical', 'changes the machine', [
    'mkfs|fdisk|parted|mount|umount|shutdown|reboot|halt|poweroff|init|insmod|modprobe|iptables|sysctl|useradd|usermod|passwd|visudo|chroot|nsenter|unshare',
  ]),
  ...line('critical', 'works on the server that asks', ['quarterdeck'], { words: 'text' }),
])

/** Programs with verbs: another verb is not known. */
export const WITH_VERBS: ReadonlySet<string> = new Set(
  [...PROGRAMS.keys()].flatMap((name) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : [])),
)

/** Programs that read code from a file, a text or their input. */
export const SHELLS: ReadonlySet<string> = new Set(split('sh bash zsh dash ksh mksh ash fish csh tcsh rbash'))
export const INTERPRETERS: ReadonlyMap<string, RegExp> = new Map([
  // The options that only say how a file is run. Others may be code.
  ...split('node nodejs').map((name): [string, RegExp] => [
    name,
    /^--(?:test|watch|check|enable-source-maps|no-warnings|trace-|max-old-space-size|experimental-(?:strip|transform|vm|test)|test-)[\w-]*(?:=[\w*./-]+)?$/,
  ]),
  ...split('python python3 python2 pypy3').map((name): [string, RegExp] => [name, /^-[uBOOsEIqv]+$/]),
  ...split('ruby perl php lua rscript julia tsx ts-node bun deno swift osascript pwsh powershell').map(
    (name): [string, RegExp] => [name, /^$/],
  ),
])
/** Modules that `python -m` may run like a program. */
export const MODULES: ReadonlySet<string> = new Set(split('pytest mypy ruff black isort flake8 pylint'))
export const HARMLESS_MODULES: ReadonlySet<string> = new Set(split('unittest compileall py_compile json.tool doctest'))

/** Programs that run what follows. The options that are known, and how many words come before the program. */
export const WRAPPERS: ReadonlyMap<string, { valued: string; words: number; plain: RegExp }> = new Map(
  Object.entries({
    command: { valued: '', words: 0, plain: /^-p$/ },
    builtin: { valued: '', words: 0, plain: /^$/ },
    exec: { valued: '', words: 0, plain: /^-[cl]+$/ },
    nohup: { valued: '', words: 0, plain: /^$/ },
    time: { valued: '', words: 0, plain: /^-[plv]+$/ },
    nice: { valued: '-n', words: 0, plain: /^-(?:n?\d+|n-?\d+)$/ },
    ionice: { valued: '-c -n', words: 0, plain: /^-[cn]\d$/ },
    stdbuf: { valued: '-i -o -e', words: 0, plain: /^-[ioe][L0]$/ },
    timeout: {
      valued: '-k -s',
      words: 1,
      plain: /^(?:-[ks]\w+|--(?:foreground|preserve-status|kill-after=\w+|signal=\w+))$/,
    },
    gtimeout: { valued: '-k -s', words: 1, plain: /^--(?:foreground|preserve-status)$/ },
    busybox: { valued: '', words: 0, plain: /^$/ },
    'uv run': { valued: '', words: 0, plain: /^--(?:frozen|no-sync|offline|locked)$/ },
    'poetry run': { valued: '', words: 0, plain: /^$/ },
    'pipenv run': { valued: '', words: 0, plain: /^$/ },
    'bundle exec': { valued: '', words: 0, plain: /^$/ },
  }),
)

/** Variables that only say how to print or to test. Every other one may make a program run something else. */
export const HARMLESS_VARIABLES =
  /^(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR|CLICOLOR|DEBUG|VERBOSE|LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|TZ|LANG|LC_\w+|PORT|COLUMNS|LINES|TERM|PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED|PYTHONHASHSEED|CGO_ENABLED|GOOS|GOARCH|RAILS_ENV|RACK_ENV|APP_ENV|MIX_ENV|UPDATE_SNAPSHOTS|VITEST_\w+)$/
/** Variables of the shell itself, and those that programs obey even if nobody exports them again. */
export const OBEYED_VARIABLES =
  /^(?:PATH|CDPATH|HOME|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|PS\d|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|BROWSER|TMPDIR|CLASSPATH|\w*_(?:OPTIONS|OPTS|PRELOAD|PATH|COMMAND|ARGS|PROXY|CONFIG|FLAGS|HOME|SHELL|ENV)|(?:BASH|LD|DYLD|GIT|NODE|NPM|npm|PYTHON|PERL|RUBY|JAVA|GO|CARGO|RUST|MAKE|ZSH|ZDOTDIR|SSH|DOCKER|AWS|PIP|UV)_?\w*|MAKEFLAGS|RUBYOPT|RUBYLIB|PERL5\w+|GOFLAGS|http_proxy|https_proxy|all_proxy)$/

/** Folders of results that a build makes again. */
export const BUILD_RESULTS =
  /^(?:node_modules|dist|build|out|coverage|target|tmp|temp|\.cache|\.next|\.turbo|\.vite|\.parcel-cache|\.nyc_output|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|test-results|playwright-report)$/
/** Scripts and targets that do more than build. */
export const REACHING_SCRIPT = /publish|deploy|release|upload|push|install|uninstall/i
export const DOWNLOADS: ReadonlySet<string> = new Set(
  split('curl wget aria2c http https xh lynx fetch gh nc ncat netcat socat ssh scp'),
)
export const DECODERS: ReadonlySet<string> = new Set(
  split('base64 base32 basenc xxd openssl uudecode rev tr zcat gunzip gzip gpg od hexdump'),
)
