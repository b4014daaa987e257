import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressFor, addressOfReleases, homepageOf } from './address.ts';
import { downloadsOf } from './downloads.ts';
import { nameFor, type Part, type System } from './release.ts';

const DESCRIPTION = 'Transit encryption and tags on a local sealed store';

/** Builds a Homebrew formula, `coffer.rb`, for a tap: macOS and Linux. */
export const homebrewFormula: Part = async (release) => {
  const address = addressOfReleases();
  const base = addressFor(address, release);
  const downloads = downloadsOf(release);
  const block = (platform: System['platform']): string =>
    [['arm', 'arm64'] as const, ['intel', 'x64'] as const]
      .flatMap(([word, arch]) =>
        downloads
          .filter(({ system }) => system.platform === platform && system.arch === arch)
          .map(
            ({ file, sha256 }) =>
              `    on_${word} do\n      url "${base}/${file}"\n      sha256 "${sha256}"\n    end\n`,
          ),
      )
      .join('');
  writeFileSync(
    join(release.directory, 'coffer.rb'),
    `class Coffer < Formula
  desc "${DESCRIPTION}"
  homepage "${homepageOf(address)}"
  version "${release.version}"
  license "Apache-2.0"

  on_macos do
${block('macos')}  end

  on_linux do
${block('linux')}  end

  def install
    bin.install "coffer"
    bin.install_symlink "coffer" => "age-plugin-coffer"
    bash_completion.install "completions/coffer.bash" => "coffer"
    zsh_completion.install "completions/coffer.zsh" => "_coffer"
    fish_completion.install "completions/coffer.fish"
  end

  test do
    ENV["COFFER_STORE"] = testpath/"store"
    ENV["COFFER_MASTER_KEY"] = shell_output("#{bin}/coffer keygen").strip
    system bin/"coffer", "init"
    system bin/"coffer", "transit", "keys", "create", "orders"
    ciphertext = pipe_output("#{bin}/coffer transit encrypt orders", "hello").strip
    assert_equal "hello", shell_output("#{bin}/coffer transit decrypt orders #{ciphertext}").strip
  end
end
`,
  );
};

/** Builds a Scoop manifest, `coffer.json`, for a bucket: Windows. */
export const scoopManifest: Part = async (release) => {
  const address = addressOfReleases();
  const download = downloadsOf(release).find(({ system }) => system.platform === 'windows');
  if (download === undefined) {
    process.stdout.write('  none, because there is no executable for Windows in this release\n');
    return;
  }
  const { system, file, sha256 } = download;
  const manifest = {
    version: release.version,
    description: DESCRIPTION,
    homepage: homepageOf(address),
    license: 'Apache-2.0',
    architecture: {
      '64bit': {
        url: `${addressFor(address, release)}/${file}`,
        hash: sha256,
        extract_dir: nameFor(release, system),
      },
    },
    // Scoop creates a command for each, the second one under another name, by which age finds its plugins.
    bin: ['coffer.exe', ['coffer.exe', 'age-plugin-coffer']],
  };
  writeFileSync(join(release.directory, 'coffer.json'), `${JSON.stringify(manifest, null, 4)}\n`);
};
