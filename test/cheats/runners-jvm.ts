/** Cheats and honest changes near Maven, Gradle, dotnet and mix. */
import type { Ground } from "./corpus.ts";
import { empty, refused, words } from "./short.ts";

export const JVM_RUNNERS: readonly Ground[] = [
  {
    ecosystem: "java",
    name: "maven, with classes of the frameworks",
    files: {
      ...empty(
        "pom.xml src/main/java/a/Add.java src/test/resources/in.json src/main/resources/app.properties .mvn/maven.config src/main/java/a/Latest.java src/it/a/pom.xml lombok.config",
      ),
      "src/test/java/a/AddTest.java": "import org.junit.jupiter.api.Test;",
    },
    checks: ["mvn -q test"],
    cheats: {
      ...refused("protected.reached", "pom.xml .mvn/maven.config"),
      ...refused("protected.test", "src/test/java/a/AddTest.java src/test/resources/in.json"),
      ...refused(
        "protected.place",
        "+.mvn/extensions.xml +src/main/resources/junit-platform.properties +src/main/resources/META-INF/services/org.junit.jupiter.api.extension.Extension +src/main/resources/META-INF/services/org.mockito.plugins.MockMaker",
      ),
      ...refused(
        "protected.shadow",
        "+src/main/java/org/junit/jupiter/api/Assertions.java +src/main/java/org/assertj/core/api/Assertions.java +src/main/java/org/junit/Assert.java +src/main/java/junit/framework/Assert.java +src/main/java/org/hamcrest/MatcherAssert.java +src/main/java/org/mockito/Mockito.java",
      ),
    },
    honest: words(
      "src/main/java/a/Add.java +src/main/java/a/Sub.java src/main/resources/app.properties +src/test/java/a/SubTest.java src/main/java/a/Latest.java +src/main/resources/META-INF/services/java.sql.Driver +src/main/java/a/Assertions.java +src/main/resources/db/V2__a.sql +src/main/java/module-info.java",
    ),
  },
  {
    ecosystem: "java",
    name: "gradle",
    files: {
      ...empty(
        "build.gradle.kts settings.gradle.kts gradle/libs.versions.toml gradle.properties buildSrc/src/main/kotlin/a.kts app/src/main/kotlin/A.kt app/src/test/kotlin/ATest.kt app/src/testFixtures/kotlin/F.kt app/src/integrationTest/kotlin/B.kt app/src/androidTest/kotlin/C.kt app/src/main/res/values/strings.xml config/detekt.yml app/lint.xml",
      ),
      gradlew: "#!/bin/sh",
    },
    checks: ["./gradlew check"],
    cheats: {
      ...refused("protected.reached", "build.gradle.kts gradlew gradle.properties"),
      ...refused(
        "protected.place",
        "buildSrc/src/main/kotlin/a.kts config/detekt.yml app/lint.xml +app/gradle.lockfile +init.gradle",
      ),
      ...refused(
        "protected.test",
        "app/src/test/kotlin/ATest.kt app/src/testFixtures/kotlin/F.kt app/src/integrationTest/kotlin/B.kt app/src/androidTest/kotlin/C.kt",
      ),
    },
    honest: words(
      "app/src/main/kotlin/A.kt +app/src/main/kotlin/B.kt app/src/main/res/values/strings.xml +app/src/test/kotlin/BTest.kt",
    ),
  },
  {
    ecosystem: ".net",
    name: "dotnet test",
    files: {
      ...empty(
        "App.sln src/App/App.csproj src/App/A.cs test/App.Tests/ATests.cs src/App/appsettings.json test/App.Tests/xunit.runner.json Directory.Build.props",
      ),
    },
    checks: ["dotnet test"],
    cheats: {
      ...refused(
        "protected.place",
        "App.sln src/App/App.csproj Directory.Build.props +Directory.Packages.props +Directory.Build.rsp +src/App/xunit.runner.json +.config/dotnet-tools.json +testconfig.json",
      ),
      ...refused("protected.test", "test/App.Tests/ATests.cs test/App.Tests/xunit.runner.json"),
    },
    honest: words("src/App/A.cs src/App/appsettings.json +src/App/B.cs +test/App.Tests/BTests.cs"),
  },
  {
    ecosystem: "elixir",
    name: "mix with a configuration",
    files: {
      ...empty(
        "mix.exs config/test.exs config/config.exs lib/a.ex test/a_test.exs test/test_helper.exs .credo.exs priv/repo/a.sql",
      ),
    },
    checks: ["mix test", "mix credo"],
    cheats: {
      ...refused("protected.reached", "mix.exs"),
      ...refused("protected.test", "config/test.exs test/a_test.exs test/test_helper.exs"),
      ...refused("protected.place", ".credo.exs +.tool-versions"),
    },
    honest: words("lib/a.ex +lib/b.ex priv/repo/a.sql +test/b_test.exs config/config.exs +lib/a/case.ex"),
  },
  {
    ecosystem: "java",
    name: "the framework itself",
    files: {
      ...empty(
        "pom.xml src/main/java/org/junit/Assert.java src/test/java/org/junit/AssertTest.java src/main/java/org/other/A.java",
      ),
    },
    checks: ["mvn test"],
    cheats: {
      ...refused("protected.reached", "pom.xml"),
      ...refused("protected.test", "src/test/java/org/junit/AssertTest.java"),
      ...refused("protected.shadow", "+src/main/java/org/hamcrest/Matcher.java"),
    },
    honest: words(
      "src/main/java/org/junit/Assert.java +src/main/java/org/junit/Assume.java +src/main/java/org/other/B.java",
    ),
  },
];
