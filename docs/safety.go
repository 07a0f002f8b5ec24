package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// property is something that users can rely on, and the tests without which it would be a promise
// only.
type property struct {
	claim string
	// tests are a folder and the name of a test in it, with a space between them.
	tests []string
}

var properties = []struct {
	title string
	all   []property
}{
	{"Unknown is not absent", []property{
		{"A type that cannot be listed is a gap in every answer, and what it can hide is unknown.", []string{
			"pkg/cluster TestOneBrokenTypeIsAGap", "pkg/cluster TestUnknownIsNotAbsent",
			"pkg/cluster TestDiscoveryUnderFaultHidesNothing", "test/e2e TestHiddenTypeIsAGapInEveryCommand_API056"}},
		{"An owner is absent only if a read of it says so. A kind that is not served proves nothing.", []string{
			"pkg/plan TestDecideNeverDeletesWithoutProof_P01", "pkg/collect TestNotServedIsNotAbsent_P04",
			"pkg/collect TestNothingIsDoneWithoutTheCoreGroup_P05_P06"}},
		{"An owner that waits is not released while dependents of it can be hidden, or a watch can be behind.", []string{
			"pkg/collect TestOwnersOfHiddenDependentsStay_P05_P06",
			"pkg/collect TestWatchDoesNotReleaseAnOwnerWhoseDependentsAWatchHasNotShownYet"}},
	}},
	{"The plan is the thing that runs", []property{
		{"What a plan says is what the loop does, and what the garbage collector of Kubernetes does.", []string{
			"pkg/plan TestPlanIsWhatTheCollectorDoes_P10", "pkg/collect TestLoopDoesWhatThePlanSays_P10",
			"pkg/collect TestSameResultAsTheCollector_P14", "pkg/collect TestWatchEndsAsTheCollectorDoes_P14",
			"test/upstream TestUpstreamsTestsPass"}},
		{"Nothing is written that was not agreed to. A plan that has grown is shown again, or refused.", []string{
			"pkg/deletion TestNothingIsWrittenWithoutAgreement", "pkg/deletion TestAPlanThatGrewIsRefusedWithoutAgree",
			"pkg/collect TestRunWritesNothingWhenThePlanHasGrown", "test/e2e TestRunWithYesStopsWhenThePlanHasGrown"}},
		{"A digest stands for one plan.", []string{
			"pkg/deletion TestEveryChangeOfWhatIsDoneChangesTheDigest",
			"pkg/deletion TestTheDigestDoesNotDependOnTheOrderOfListing"}},
		{"A dry run writes nothing, unless a webhook that it calls does although it has declared to the server that it does not.", []string{"test/e2e TestNoDryRunOfTheCommandWritesAnything_P09", "pkg/act TestCheckWritesNothing_P09"}},
		{"No dry run is sent to a webhook that is known to write on dry runs, nor where it cannot be known whether it would be called.", []string{
			"test/e2e TestNoDryRunIsSentForWhatAGuardKeeps", "pkg/diagnose TestAUsageIsNamedWithWhatUsesTheObject"}},
	}},
	{"Every write carries the uid and is verified", []property{
		{"An object that was created again under the same name is not touched.", []string{
			"pkg/act TestAnotherObjectUnderTheNameIsNotTouched_P02", "pkg/collect TestObjectCreatedAgainIsNotTouched_P02",
			"pkg/unfinalize TestRecreatedJustBeforeTheWriteStaysUntouched_P02"}},
		{"A write is about the version that the decision was about, and keeps what others have changed.", []string{
			"pkg/collect TestDecisionAndDeleteAreAboutTheSame_P03", "pkg/collect TestConcurrentChangesAreKept_P07",
			"pkg/unfinalize TestOthersStayAndKeepTheirOrder_P07"}},
		{"What somebody puts back is noticed, and not removed for ever.",
			[]string{"pkg/unfinalize TestOneOfTwoFinalizersIsPutBack", "pkg/diagnose TestFinalizerIsPutBack_API033"}},
	}},
	{"Dead needs a witness", []property{
		{"A finalizer is removed without --force only if something shows that nobody can honour it any more.", []string{
			"pkg/unfinalize TestDeadNeedsAWitness", "pkg/actor TestAWorkloadIsDeadOnlyAfterTenMinutesWithoutAReadyPod",
			"pkg/actor TestWorkloadThatIsScaledToZeroHasNoFault"}},
		{"Where the data of a volume would be destroyed, that is said, and needs --force.",
			[]string{"pkg/unfinalize TestDisksThatAreDestroyedNeedForce",
				"pkg/rescue TestAClaimWhoseDiskWouldBeDestroyedNeedsForce"}},
	}},
	{"Damage is bounded", []property{
		{"A backup that was restored is not collected, nor slowly, nor by a watch.", []string{
			"pkg/plan TestKindsThatLostMostOwners_P18", "pkg/collect TestWatchDoesNotCollectARestoredBackup",
			"pkg/collect TestWatchStopsABackupThatIsRestoredSlowly", "test/e2e TestRunAsTheCollectorRefusesARestoredBackup"}},
		{"-n, -l and --max-deletes bound what is written, and not what counts as evidence.",
			[]string{"pkg/collect TestDamageIsBounded_P18", "pkg/collect TestWritesAreContained_P19"}},
		{"What only a link leads to that it does not confirm is not written to, and not saved.", []string{
			"plugins TestNoLinkOfAPackLeadsATenantToWhatOthersOwn", "pkg/plan TestClientWritesToWhatBelongsToTheRoots",
			"pkg/plan TestOnlyTheProgramActsOnWhatDoesNotConfirmALink"}},
		{"With --archive, what is not saved whole is not deleted.", []string{
			"pkg/act TestEachDeleteIsCoveredByTheArchive", "pkg/unfinalize TestWhatChangedAfterItWasArchivedIsLeftAlone",
			"pkg/rescue TestWhatIsChangedAfterItWasArchivedIsNotLost",
			"pkg/collect TestARunLeavesAloneWhatItsArchiveDoesNotHave",
			"pkg/archive TestArchiveHasEveryObjectAsTheServerAnswers", "pkg/archive TestArchiveIsForItsOwnerAlone"}},
	}},
	{"Crossplane, Helm, Argo CD, Flux", []property{
		{"The tree draws what a claim, a release, an Application or a Kustomization names, and from there the way leads back.",
			[]string{"plugins TestLinks", "pkg/ownership TestClaimOfCrossplane", "pkg/ownership TestHelmRelease"}},
		{"The plan counts what the program deletes and says what it keeps. It is compared with what Crossplane, provider-kubernetes, Helm, Cluster API, kro, cert-manager, the kustomize-controller of Flux, Karpenter, JobSet, CloudNativePG, Kueue, external-secrets, Tekton pipelines, Gatekeeper, OLM and the application controller of Argo CD do.", []string{
			"test/real/facts TestCrossplane", "test/real/facts TestCrossplane2", "test/real/facts TestHelm",
			"test/real/facts TestClusterAPI", "test/real/facts TestKro", "test/real/facts TestFlux", "test/real/facts TestCertManager",
			"test/real/facts TestKarpenter", "test/real/facts TestJobSet", "test/real/facts TestCloudNativePG",
			"test/real/facts TestKueue",
			"test/real/facts TestExternalSecrets",
			"test/real/facts TestTekton",
			"test/real/facts TestGatekeeper",
			"test/real/facts TestOLM",
			"test/real/facts TestArgoCD",
			"test/e2e TestDeleteOfAnApplicationAndAKustomization", "pkg/plan TestApplicationKeepsAResource"}},
		{"What stays outside of the cluster is told, and what a setting decides about it is in the digest.",
			[]string{"pkg/finalizer TestWhatASettingDecidesIsRead"}},
		{"An object that comes back is told, and not where what makes it goes too.",
			[]string{"pkg/plan TestCompositeOfALivingClaim", "pkg/plan TestSuspendedKustomization"}},
		{"What Crossplane deletes once a Usage is gone is counted, unless another Usage keeps it.",
			[]string{"pkg/plan TestADeletionThatIsRepeated"}},
		{"In the foreground, what a claim is composed of goes first, then the composite, and the claim last.", []string{
			"pkg/plan TestClaimWaitsForItsComposite", "pkg/act TestCompositeIsDeletedBeforeTheClaim"}},
		{"A claim, an Application and a Cluster are followed to what holds them.", []string{
			"pkg/diagnose TestAClaimIsFollowedToTheManagedResourceThatStays",
			"pkg/diagnose TestAnApplicationIsFollowedToItsResources",
			"pkg/diagnose TestAClusterIsFollowedToTheMachineThatStays",
			"pkg/diagnose TestNothingIsAdvisedAboutWhatConfirmsNoLink"}},
	}},
	{"Whatever happens meanwhile", []property{
		{"A command that is killed after any write, and run again, comes to the same end.", []string{
			"pkg/collect TestCrashAfterEveryWrite_P12", "pkg/rescue TestKilledAfterEveryWrite_TheSameEnd",
			"test/e2e TestKilledAtEachWriteOfARestore_TheSameEnd", "test/e2e TestKilledAtEachWriteOfARescue_TheSameEnd"}},
		{"Only what was restored, by its uid or as a copy, gets what the archived object has owned.", []string{
			"pkg/restore TestAnAnnotationIsNoProof", "pkg/restore TestAReferenceToAControllerIsNoProof",
			"pkg/restore TestAVolumeIsNotBoundToAStrangersClaim", "pkg/rescue TestAnAnnotationIsNoProof"}},
		{"What is restored is what was agreed to.",
			[]string{"pkg/restore TestAnArchiveThatIsReplacedIsNotRestored",
				"pkg/restore TestATamperedArchiveStaysInItsNamespace"}},
		{"Two loops at once, or one beside the collector, do no more than one.",
			[]string{"pkg/collect TestTwoLoopsAtOnce_P15", "pkg/collect TestBesideTheCollector_P15"}},
		{"Whatever answer of the server is broken, nothing is written that would not have been.",
			[]string{"test/faults TestEveryCommandSurvivesEveryAnswer"}},
		{"A watch misses nothing of an outage, of a restart of the API server, or of what arrives while it works.", []string{
			"pkg/collect TestWatchMissesNothingOfAnOutage", "pkg/collect TestWatchMissesNothingWhileTheServerIsRestarted",
			"pkg/collect TestWatchMissesNothingOfWhatArrivesMeanwhile"}},
		{"An interrupt ends every command, and it says what is left.",
			[]string{"pkg/act TestInterruptedWaitSaysWhatIsLeft", "test/e2e TestInterruptedWhileTheServerIsSilent",
				"test/e2e TestInterruptedAtAPrompt"}},
	}},
	{"What it prints and sends", []property{
		{"What an old server does not have is done without, and nothing is missing for that.",
			[]string{"test/e2e TestCommandsFallBackOnAnOldServer", "pkg/cluster TestPagesSuitTheVersionOfTheServer"}},
		{"Text of an object cannot move the cursor, hide a line or look like another.",
			[]string{"pkg/render TestHostileTexts", "pkg/render TestEscapeEveryRune", "pkg/render TestRandomTexts"}},
		{"A command that it prints can be pasted, whatever objects are called: no name runs, and none is an option.",
			[]string{
				"test/e2e TestPrintedCommandsCanBePasted", "pkg/phrase TestEveryPrintedCommandIsWrittenByCommand",
				"pkg/render TestTheCommandForManyReachesNoMore"}},
		{"A command needs no more permissions than its role in docs/deploy has, and that role has no subresource with which one runs commands.", []string{
			"test/deploy TestEachCommandRunsUnderItsRole", "test/deploy TestRolesNameTypesAndNoSubresources"}},
		{"A busy server is waited for, and gets no more than 64 requests at a time.",
			[]string{"test/synthetic TestBusyServerIsWaitedFor"}},
	}},
}

// Safety returns the page of what users can rely on, with the tests of a repository that hold it.
// The error names a test that is not there, or says nothing of itself.
func Safety(root string) (string, error) {
	var b strings.Builder
	b.WriteString(
		"# Safety\n\nWhat you can rely on, and the tests that hold it. Those of `test/upstream` run in `make test-long`, those of `test/real` in `make test-real`, all others in `make test`. Made by `make docs`.\n")
	for _, section := range properties {
		fmt.Fprintf(&b, "\n## %s\n", section.title)
		for _, p := range section.all {
			fmt.Fprintf(&b, "\n%s\n\n", p.claim)
			for _, test := range p.tests {
				folder, name, _ := strings.Cut(test, " ")
				file, says, err := findTest(filepath.Join(root, filepath.FromSlash(folder)), name)
				if err != nil {
					return "", err
				}
				fmt.Fprintf(&b, "- [`%s`](../%s/%s): %s\n", name, folder, file, says)
			}
		}
	}
	return b.String(), nil
}

// findTest returns the file of a test in a folder, and what its comment says of it.
func findTest(folder, name string) (file, says string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return "", "", err
	}
	for _, path := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return "", "", err
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != name {
				continue
			}
			says = strings.Join(strings.Fields(f.Doc.Text()), " ")
			subject, _, _ := strings.Cut(name, "_") // some comments leave out the number of the rule
			says = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(says, name), subject), ":,. ")
			if says == "" {
				return "", "", fmt.Errorf("%s of %s has no comment that says what it does", name, folder)
			}
			return filepath.Base(path), says, nil
		}
	}
	return "", "", fmt.Errorf("there is no %s in %s", name, folder)
}
